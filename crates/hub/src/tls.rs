//! Whether a server's last words are those of a program that trusts no certificate on its way out.
//! Must not know servers.

/// What helps, for the end of a sentence.
pub(super) const HINT: &str = "it does not trust a TLS certificate; where a network has \
    certificates of its own, set SSL_CERT_FILE (Python, uvx) or NODE_EXTRA_CA_CERTS (Node, npx) \
    to their file, in claw's environment or in the server's `env`";

/// As OpenSSL, Node, rustls and Go put it.
const WORDS: [&str; 12] = [
    "self_signed_cert",
    "self-signed certificate",
    "self signed certificate",
    "unable_to_get_issuer_cert",
    "unable_to_verify_leaf_signature",
    "unable to get local issuer certificate",
    "unable to verify the first certificate",
    "certificate_verify_failed",
    "certificate verify failed",
    "invalid peer certificate",
    "certificate signed by unknown authority",
    "unknownissuer",
];

pub(super) fn is_distrusted(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    WORDS.iter().any(|known| words.contains(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_npm_pip_uv_and_docker() {
        for said in [
            "npm error code SELF_SIGNED_CERT_IN_CHAIN",
            "npm error code UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
            "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
            "Caused by: invalid peer certificate: UnknownIssuer",
            "x509: certificate signed by unknown authority",
        ] {
            assert!(is_distrusted(said), "{said}");
        }
        assert!(!is_distrusted("the file cert.pem was read; listening"));
    }
}
