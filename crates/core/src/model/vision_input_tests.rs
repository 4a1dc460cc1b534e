//! What a model gets to see of the images in a log.

use super::*;
use crate::domain::{Message, Role};
use crate::model::{Script, Scripted};

fn image(digest: &str, bytes: u64) -> Block {
    Block::ImageRef { mime: "image/png".into(), digest: digest.into(), bytes }
}

/// What the model was sent, in order, after `blocks` were asked about.
async fn asked(
    script: Vec<Script>,
    sees: bool,
    blocks: Vec<Block>,
) -> (Vec<Vec<Block>>, Result<Reply, ModelError>) {
    let model = Arc::new(Scripted::new(script));
    let load: LoadImage = Arc::new(|digest| match digest {
        "gone" => Err(io::ErrorKind::NotFound.into()),
        digest => Ok(digest.as_bytes().to_vec()),
    });
    let vision = VisionInput::new(model.clone(), sees, load);
    let request =
        Request { messages: vec![Message { role: Role::User, blocks }], ..Request::default() };
    let reply = vision.reply(&request, &mut |_| {}).await;
    (
        model.requests().into_iter().map(|mut request| request.messages.remove(0).blocks).collect(),
        reply,
    )
}

fn shown(block: &Block) -> String {
    match block {
        Block::Image { base64, .. } => String::from_utf8(STANDARD.decode(base64).unwrap()).unwrap(),
        Block::Text { text } => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_newest_images_are_shown_in_their_order() {
    let blocks: Vec<Block> = (0..10).map(|number| image(&format!("i{number}"), 1)).collect();
    let (requests, _) = asked(vec![Script::text("ok")], true, blocks).await;
    let seen: Vec<String> = requests[0].iter().map(shown).collect();
    assert_eq!(seen[..3], [TOO_OLD, TOO_OLD, "i2"]);
    assert_eq!(seen[9], "i9");
}

#[tokio::test]
async fn so_many_bytes_and_no_more() {
    let large = IMAGE_BYTES_MAX - 1;
    let (requests, _) =
        asked(vec![Script::text("ok")], true, vec![image("a", 2), image("b", large)]).await;
    assert_eq!(requests[0].iter().map(shown).collect::<Vec<_>>(), [TOO_OLD, "b"]);
}

#[tokio::test]
async fn a_model_that_cannot_see_gets_none_and_a_lost_file_is_named() {
    let (requests, _) =
        asked(vec![Script::text("ok")], false, vec![text("photo"), image("a", 1)]).await;
    assert_eq!(requests[0], [text("photo")]);
    let (requests, _) = asked(vec![Script::text("ok")], true, vec![image("gone", 1)]).await;
    assert_eq!(requests[0], [text(UNREADABLE)]);
}

#[tokio::test]
async fn a_refused_image_does_not_end_the_conversation() {
    let script = vec![Script::fail("image too large"), Script::text("ok")];
    let (requests, reply) = asked(script, true, vec![image("a", 1)]).await;
    assert!(reply.is_ok());
    assert_eq!((requests.len(), shown(&requests[1][0])), (2, REFUSED.to_owned()));
    let (_, reply) =
        asked(vec![Script::fail("no key"), Script::fail("still none")], true, vec![image("a", 1)])
            .await;
    assert_eq!(reply.unwrap_err(), ModelError::permanent("no key"));
}
