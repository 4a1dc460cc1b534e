//! Answers that are cut, refused or empty.

use super::rig::Rig;
use crate::domain::{Block, Finish};
use crate::gate::tests::rig::ALLOW;
use crate::model::Script;

#[tokio::test]
async fn cut_and_refused_answers_end_visibly() {
    let text = |finish| Script::blocks(vec![Block::Text { text: "half".into() }], finish);
    let refusal = Finish::Refusal { reason: "policy".into() };
    let rig = Rig::new(
        ALLOW,
        [text(Finish::MaxTokens), text(refusal), Script::blocks(vec![], Finish::Complete)],
    );
    for n in 0..3 {
        rig.turn(&n.to_string()).await;
    }
    let replies = rig.replies();
    assert!(replies[0].starts_with("half") && replies[0].contains("output limit"), "{replies:?}");
    assert!(replies[1].contains("the model refused: policy"), "{replies:?}");
    assert!(replies[2].contains("empty answer"), "{replies:?}");
}
