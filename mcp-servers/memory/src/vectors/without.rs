//! What stands for an embeddings endpoint in a program that was built without the feature
//! `embeddings`: the sentence that says so.

use std::time::Duration;

use super::args::EmbeddingsArgs;
use super::fault::Fault;

/// There is none.
pub struct Endpoint {
    pub shown: String,
}

impl Endpoint {
    pub fn new(_args: &EmbeddingsArgs, _base: &str, _model: &str) -> Result<Self, String> {
        Err("this program was built without embeddings".to_owned())
    }

    pub fn embed(&self, _texts: Vec<String>, _time: Duration) -> Result<Vec<Vec<f32>>, Fault> {
        Err(Fault::of("this program was built without embeddings".to_owned()))
    }
}
