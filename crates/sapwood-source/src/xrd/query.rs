//! Queries about a path, sent along redirects.

use super::client::{Client, RetryBudget};
use super::failure::{Broken, RetryAction, failed, retry_action};
use super::open_request::{OpenFailure, settle};
use crate::open::SourceOptions;
use sapwood_span::Result;
use sapwood_xrd::{Refusal, Request, SecretBytes};

/// What to do when a server refuses to answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryPolicy {
    /// Retry where that may help.
    Retry,
    /// The refusal is the answer.
    Never,
}

/// Sends a query about a client's path, along redirects.
pub(super) async fn ask(
    client: &Client,
    options: &SourceOptions,
    question: &(dyn Fn(SecretBytes) -> Request + Send + Sync),
    retry_policy: RetryPolicy,
) -> Result<bytes::Bytes> {
    let mut budget = RetryBudget::fresh(options);
    let (mut adapted, mut lost) = (0, false);
    loop {
        if budget.is_over() {
            return Err(budget.too_long());
        }
        let server = client.server();
        let time_limit = client.connect_timeout(&server);
        let mut used = false;
        let asked = match server.host.quick(&client.caller, time_limit, 0).await {
            Ok(conn) => {
                server.check(&conn)?;
                used = conn.is_used();
                let request = question(SecretBytes::from(client.path().as_str()));
                let answer = settle(conn.ask(&request, None, client.counters()).get().await);
                server.host.proves(&conn);
                if matches!(&answer, Err(outcome) if outcome.lost_session()) {
                    conn.give_up();
                }
                answer
            }
            Err(broken) => Err(OpenFailure::Broken(broken)),
        };
        let (error, action) = match asked {
            Ok(body) => return Ok(body),
            Err(OpenFailure::Redirect(to))
            | Err(OpenFailure::Broken(Broken { refusal: Some(Refusal::Redirect(to)), .. })) => {
                client.follow(&server, &to)?;
                continue;
            }
            Err(OpenFailure::Broken(broken)) if adapted < 4 && server.host.adapt(&broken) => {
                adapted += 1;
                continue;
            }
            // The server has dropped the session while it was idle.
            Err(outcome) if used && outcome.lost_session() && !std::mem::replace(&mut lost, true) => continue,
            Err(OpenFailure::Broken(broken)) => (broken.error, RetryAction::None),
            Err(OpenFailure::Failed(failure)) if retry_action(&failure) == RetryAction::LogIn => {
                (failed(&failure), RetryAction::None)
            }
            Err(OpenFailure::Failed(failure)) if retry_policy == RetryPolicy::Never => {
                (failed(&failure), RetryAction::None)
            }
            Err(OpenFailure::Failed(failure)) => (failed(&failure), retry_action(&failure)),
            Err(OpenFailure::Fatal(error)) => (error, RetryAction::None),
        };
        if action == RetryAction::None {
            return Err(error);
        }
        budget.spend(error).await?;
    }
}
