//! Friends of the tree: `--friend` and `--index`.

use super::name;
use clap::Args;

/// Friends that are read with the tree.
#[derive(Args)]
pub(crate) struct FriendArgs {
    /// Add a friend: another tree, read entry by entry with this one (TTree::AddFriend). Expressions name its branches
    /// ALIAS.branch or TREE.branch. FILE can be a pattern or @LIST; can be repeated
    #[arg(long = "friend", value_name = "[ALIAS=]TREE@FILE", value_parser = name())]
    pub friends: Vec<String>,
    /// Match entries of friends by these values instead of by entry number (TTree::BuildIndex): one or two expressions
    /// that the tree and its friends have in common, such as run,event
    #[arg(long, value_name = "MAJOR[,MINOR]", requires = "friends", value_parser = name())]
    pub index: Option<String>,
}
