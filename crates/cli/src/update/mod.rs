//! `claw update`: says how this claw is updated, and with `--check` whether there is a newer one.
//! Changes nothing and never runs by itself. Must not know how an answer is fetched or read.

mod installed;
mod newest;

use std::process::ExitCode;

use anyhow::Context as _;
use semver::Version;

use super::fail::UserError;
use super::{fail, out};
use crate::config::{self, DoorSections};

pub async fn run(check: bool, doors: &DoorSections) -> anyhow::Result<ExitCode> {
    let program = std::env::current_exe().context("claw cannot find its own program")?;
    let this = Version::parse(env!("CARGO_PKG_VERSION"))?;
    if !check {
        out::line(&format!("This is claw {this}, {}.", program.display()))?;
        say_how(&program)?;
        out::line("`claw update --check` says whether there is a newer version.")?;
        return Ok(ExitCode::from(fail::DONE));
    }
    let Some(url) = config::update_section(doors)?.url else {
        return Err(UserError::because(
            "claw is not published anywhere yet, so there is no usual address to ask for the \
             newest version: set `url` under [update] in claw.toml to one that you trust, or look \
             where you got claw from",
        ));
    };
    let newest = newest::ask(&url).await.map_err(|why| {
        anyhow::anyhow!(
            "the newest version could not be found out at {}: {}",
            out::clean(&url),
            out::clean(&why)
        )
    })?;
    Ok(ExitCode::from(match newest.cmp_precedence(&this) {
        std::cmp::Ordering::Greater => {
            out::line(&format!("claw {newest} is there; this is {this}."))?;
            say_how(&program)?;
            fail::NEWER
        }
        std::cmp::Ordering::Equal => {
            out::line(&format!("claw {this} is the newest version."))?;
            fail::DONE
        }
        std::cmp::Ordering::Less => {
            out::line(&format!(
                "This is claw {this}; the newest version that was published is {newest}."
            ))?;
            fail::DONE
        }
    }))
}

fn say_how(program: &std::path::Path) -> Result<(), out::Unwritten> {
    out::line(&format!("To update: {}.", installed::how_to_update(program)))?;
    out::line(
        "Then run `claw service install` again, if claw is a service of yours. The first start \
         copies the store before it changes it; `claw doctor` says how all is.",
    )
}
