//! `claw audit verify`, `head` and `anchor`: what proves that nobody without its key has changed
//! the audit. Must not know how rows, seals and heads are written.

use std::process::ExitCode;

use claw_kit::counted::counted;
use serde_json::json;

use super::fail::{self, UserError};
use super::out;
use crate::app::{App, owner_principal};
use crate::moment::when;
use crate::store::{
    Anchored, AuditHead, AuditPutAside, Broken, HeadPutBack, Store, StoreError, Whole,
};
use crate::whose::claw;

pub fn verify(app: &App, told: Option<&AuditHead>, as_json: bool) -> anyhow::Result<ExitCode> {
    match app.store.read(|tx| tx.verify_audit(told))? {
        Ok(whole) => {
            out::line(&if as_json {
                json!({
                    "id": "audit", "ok": true, "rows": whole.rows, "cut_through": whole.cut_through,
                    "head": head_text(&whole.head), "anchored": matches!(whole.anchored, Anchored::Yes { .. }),
                    "keyless": whole.keyless, "anew": whole.anew, "put_aside": whole.put_aside, "heads": whole.heads,
                })
                .to_string()
            } else {
                let told = told
                    .map(|told| format!(" Row {} is the one that you have noted.", told.number));
                format!("The audit is whole: {}{}", words(app, &whole), told.unwrap_or_default())
            })?;
            Ok(ExitCode::from(fail::DONE))
        }
        Err(broken) => {
            let object = json!({"id": "audit", "ok": false, "row": broken.row,
                               "what": broken.what, "next": broken.next});
            let words = format!("The audit is broken: {}", broken_words(&broken));
            out::done(as_json, &object, &words)?;
            Ok(ExitCode::from(fail::BROKEN))
        }
    }
}

/// What is proven, in sentences.
pub fn words(app: &App, whole: &Whole) -> String {
    let (store, claw) = (&app.store, claw(app));
    let mut sentences =
        vec![format!("{}, each bound to the one before.", counted(whole.rows, "row"))];
    if whole.cut_through > 0 {
        sentences
            .push(format!("Rows up to {} went by [retention], as a row says.", whole.cut_through));
    }
    match (&whole.anchored, store.anchor()) {
        (Anchored::Yes { sealed, noted, .. }, _) => {
            let noted = noted.map(|(number, _)| {
                format!(", and row {number} is the one noted outside of the store")
            });
            sentences.push(format!(
                "Up to row {sealed} they are sealed with the key{}.",
                noted.unwrap_or_default()
            ));
        }
        (Anchored::NotYet, _) => sentences.push("No row is sealed with the key yet.".to_owned()),
        (Anchored::Unknown, anchor) => {
            let why = anchor.err().unwrap_or_default();
            sentences.push(format!(
                "Nothing outside of the store proves them, because there is no key: {why}."
            ));
        }
    }
    for (from, through) in &whole.keyless {
        sentences.push(match from == through {
            true => format!("Row {from} was written by a process without the key."),
            false => format!("Rows {from} to {through} were written by processes without the key."),
        });
    }
    for row in &whole.anew {
        sentences.push(format!(
            "The seal begins anew in row {row}; `{claw} audit explain {row}` says why."
        ));
    }
    for HeadPutBack { row, head, sealed } in &whole.heads {
        sentences.push(match sealed {
            true => format!(
                "The head of the audit was put back behind row {head}, which was sealed with the key \
                 as the newest one; row {row} says so."
            ),
            false => format!(
                "The head of the audit could not be read and was put back behind row {head}, as row \
                 {row} says; whether others had followed it is not proven."
            ),
        });
    }
    for AuditPutAside { row, at_ms, what } in &whole.put_aside {
        sentences.push(format!(
            "Row {row} was put aside by the doctor at {} ({what}); what it said is not proven.",
            when(*at_ms)
        ));
    }
    sentences.join(" ")
}

/// What is wrong and what to do, in sentences.
pub fn broken_words(broken: &Broken) -> String {
    let next = broken.next.map(|next| format!(" {next}.")).unwrap_or_default();
    format!("{}.{next}", broken.what)
}

/// `NUMBER:DIGEST`
pub fn head_text(head: &AuditHead) -> String {
    format!("{}:{}", head.number, head.digest)
}

pub fn head(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let head = app.store.read(|tx| tx.newest_audit())?;
    let at = jiff::Timestamp::now()
        .to_zoned(app.config.zone.clone())
        .strftime("%Y-%m-%d %H:%M:%S %:z")
        .to_string();
    out::line(&if as_json {
        json!({"id": "audit", "head": head_text(&head), "number": head.number, "digest": head.digest, "at": at})
            .to_string()
    } else if head.number == 0 {
        "The audit has no row yet.".to_owned()
    } else {
        format!(
            "{}\n{at}\nLater, `{} audit verify --head NUMBER:DIGEST` says whether it is still \
             there.",
            head_text(&head),
            claw(app)
        )
    })?;
    Ok(ExitCode::from(fail::DONE))
}

pub fn anchor(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let (key, file) = match app.store.anchor() {
        Ok(anchor) => (anchor.key_name(), anchor.head_file().display().to_string()),
        Err(why) => return Err(no_key(why)),
    };
    let object = json!({"id": "audit", "key": key, "head_file": file});
    out::done(as_json, &object, &format!("The key is {key}. The newest head is noted in {file}."))?;
    Ok(ExitCode::from(fail::DONE))
}

pub async fn accept(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    if let Err(why) = app.store.anchor() {
        return Err(no_key(why));
    }
    // The chain itself cannot be taken as it is not.
    if let Err(broken) = chain_of(app)? {
        let what = &broken.what;
        return Err(UserError::because(format!(
            "the chain itself is broken, and no key mends that: {what}"
        )));
    }
    let head = app.store.accept_audit(&owner_principal()).await?;
    let object = json!({"id": "audit", "row": head.number, "head": head_text(&head)});
    let words = format!(
        "The audit is taken as it is, and sealed from here on; row {} says so.",
        head.number
    );
    out::done(as_json, &object, &words)?;
    Ok(ExitCode::from(fail::DONE))
}

/// The chain without seal and noted head.
fn chain_of(app: &App) -> Result<Result<Whole, Broken>, StoreError> {
    Store::open(app.store.path())?.read(|tx| tx.verify_audit(None))
}

fn no_key(why: &str) -> anyhow::Error {
    UserError::because(format!("the audit is not sealed, because there is no key: {why}"))
}
