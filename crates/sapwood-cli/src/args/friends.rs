//! Friends of the tree: `--friend` and `--index`.

use super::name;
use clap::Args;

/// Friends that are read with the tree.
#[derive(Args)]
pub(crate) struct FriendArgs {
    /// Read another tree along, entry by entry: expressions name its branches ALIAS.branch or TREE.branch. FILE can be a
    /// pattern of files or @FILE, as for the tree itself; can be repeated
    #[arg(long = "friend", value_name = "[ALIAS=]TREE@FILE", value_parser = name())]
    pub friends: Vec<String>,
    /// Find the entries of --friend by these values instead of by their number: expressions that the tree and its
    /// friends have in common, such as run,event
    #[arg(long, value_name = "MAJOR[,MINOR]", requires = "friends", value_parser = name())]
    pub index: Option<String>,
}
