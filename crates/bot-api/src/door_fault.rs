//! What a refusal of Telegram is to what all doors share. Must not know what was refused.

use claw_doors::door::DoorFault;
use claw_doors::patience::MayPass;

use super::fault::ApiFault;

impl From<ApiFault> for DoorFault {
    fn from(fault: ApiFault) -> Self {
        match fault {
            ApiFault::Unreachable(ref why) if why.may_be_done() => {
                Self::Unanswered(fault.to_string())
            }
            ApiFault::Unreachable(_) | ApiFault::Token | ApiFault::Wait(_) | ApiFault::Conflict => {
                Self::MayPass(fault.to_string())
            }
            ApiFault::Forbidden(why) => Self::Blocked(why),
            ApiFault::Formatting(why) => Self::Formatting(why),
            ApiFault::NoTopic(why) => Self::Gone(why),
            ApiFault::Moved(now) => Self::Moved(now.to_string()),
            ApiFault::Refused(why) => Self::Refused(why),
            ApiFault::Unchanged => Self::Refused(fault.to_string()),
        }
    }
}

impl MayPass for ApiFault {
    fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Token)
    }

    fn may_be_done(&self) -> bool {
        matches!(self, Self::Unreachable(why) if why.may_be_done())
    }
}
