//! Why a login fails, in words that say the next step. Must not know requests.

use rmcp::transport::auth::AuthError;

use crate::text::cut;

/// Of what a server has said, in bytes.
const SAID_BYTES_MAX: usize = 400;

/// As the end of a sentence.
pub(super) fn of_error(error: &AuthError) -> String {
    let words = match error {
        AuthError::DiscoveryRequestFailed { source, .. } => source.to_string(),
        AuthError::AuthorizationServersUnavailable { authorization_servers, .. } => format!(
            "it names {} for the login, where claw finds none: an address of a private network \
             counts where `private_hosts` of its entry names it",
            authorization_servers.join(", ")
        ),
        AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer } => format!(
            "the answer comes from {received_issuer} and not from {expected_issuer}, so that \
             somebody may stand between: nothing was sent there"
        ),
        AuthError::AuthorizationServerMissingIssuer { expected_issuer } => format!(
            "the answer does not say that it comes from {expected_issuer}, which it has to: \
             nothing was sent there"
        ),
        AuthError::PkceUnsupported => {
            "its login has no PKCE with S256, without which a code can be stolen on its way"
                .to_owned()
        }
        other => deepest(other),
    };
    cut(words.trim_end_matches('.'), SAID_BYTES_MAX).to_owned()
}

/// The error with what lies behind it.
fn deepest(error: &AuthError) -> String {
    let mut words = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        let inner_words = inner.to_string();
        if !words.contains(&inner_words) {
            words = format!("{words}: {inner_words}");
        }
        source = inner.source();
    }
    words
}
