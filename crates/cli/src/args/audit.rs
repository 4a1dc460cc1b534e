//! What is typed behind `claw audit`. Must not know what a command does.

use clap::Subcommand;

/// Fewer digits could be met by trying.
const HEAD_DIGITS_MIN: usize = 16;

fn noted_head(text: &str) -> Result<(i64, String), String> {
    let parsed = text.trim().split_once(':').and_then(|(number, digest)| {
        let digest = digest.to_ascii_lowercase();
        let whole = (HEAD_DIGITS_MIN..=64).contains(&digest.len())
            && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some((number.parse().ok().filter(|number| *number > 0)?, Some(digest).filter(|_| whole)?))
    });
    parsed.ok_or_else(|| {
        format!(
            "a head is NUMBER:DIGEST with {HEAD_DIGITS_MIN} to 64 hexadecimal digits, as `claw \
             audit head` prints it"
        )
    })
}

#[derive(Debug, Subcommand)]
pub enum AuditAction {
    List,
    /// Walk the whole chain of hashes, and compare it with its seal and with what was noted outside
    /// of the store
    Verify {
        /// A head that you have noted, as `claw audit head` prints it; at least 16 digits of the
        /// digest
        #[arg(long, value_name = "NUMBER:DIGEST", value_parser = noted_head)]
        head: Option<(i64, String)>,
    },
    /// Print number and digest of the newest row, to be noted where nobody at this machine can
    /// change it
    Head,
    /// Say which key seals the audit, and where its newest head is noted
    Anchor {
        /// Take the audit as it is now, after a restored copy, a moved home or a lost key. A row of
        /// it says so
        #[arg(long)]
        accept: bool,
    },
    /// Say in sentences what a call was, who wanted it, why it ran or not, and how it ended
    Explain {
        /// The id of a call or of its question, or the number of a row
        id: String,
    },
}
