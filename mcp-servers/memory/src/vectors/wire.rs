//! What goes over the wire in each form, and what comes back. Owns what counts as an answer; must
//! not know HTTP.

use serde::Deserialize;
use serde_json::{Value, json};

use super::args::Form;

/// Numbers of a vector. Models have 256 to 4,096.
const DIMENSION_MAX: usize = 16_384;

impl Form {
    pub fn path(self) -> &'static str {
        match self {
            Self::Openai => "embeddings",
            Self::Ollama => "api/embed",
        }
    }

    pub fn request(self, model: &str, texts: &[String]) -> Value {
        match self {
            Self::Openai => json!({"model": model, "input": texts, "encoding_format": "float"}),
            // It cuts what is too long for the model.
            Self::Ollama => json!({"model": model, "input": texts, "truncate": true}),
        }
    }

    /// The vectors in the order of the texts, each of length 1.
    ///
    /// # Errors
    /// What is wrong with the answer, behind "its answer".
    pub fn vectors(self, body: &[u8], count: usize) -> Result<Vec<Vec<f32>>, String> {
        let no_json = |error: serde_json::Error| format!("is not of this form ({error})");
        let vectors = match self {
            Self::Openai => {
                let mut data = serde_json::from_slice::<Openai>(body).map_err(no_json)?.data;
                data.sort_by_key(|one| one.index);
                if data.iter().enumerate().any(|(at, one)| one.index != at) {
                    return Err("numbers its vectors wrongly".to_owned());
                }
                data.into_iter().map(|one| one.embedding).collect()
            }
            Self::Ollama => serde_json::from_slice::<Ollama>(body).map_err(no_json)?.embeddings,
        };
        checked(vectors, count)
    }
}

#[derive(Deserialize)]
struct Openai {
    data: Vec<OpenaiVector>,
}

#[derive(Deserialize)]
struct OpenaiVector {
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Ollama {
    embeddings: Vec<Vec<f32>>,
}

fn checked(mut vectors: Vec<Vec<f32>>, count: usize) -> Result<Vec<Vec<f32>>, String> {
    if vectors.len() != count {
        return Err(format!("has {} vectors for {count} texts", vectors.len()));
    }
    let dimension = vectors.first().map_or(0, Vec::len);
    if dimension == 0 || dimension > DIMENSION_MAX {
        return Err(format!("has vectors of {dimension} numbers"));
    }
    for vector in &mut vectors {
        if vector.len() != dimension {
            return Err("has vectors of different lengths".to_owned());
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if !length.is_finite() || length == 0.0 {
            return Err("has a vector without a direction".to_owned());
        }
        vector.iter_mut().for_each(|x| *x /= length);
    }
    Ok(vectors)
}

/// What an endpoint says of its refusal, in both forms.
pub fn reason(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let error = value.get("error")?;
    let text = error.get("message").unwrap_or(error).as_str()?;
    Some(text.chars().filter(|c| !c.is_control()).take(160).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_their_texts_and_have_length_one() {
        let body = br#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}]}"#;
        assert_eq!(Form::Openai.vectors(body, 2).unwrap(), [[0.6, 0.8], [0.0, 1.0]]);
        let body = br#"{"embeddings":[[3,4]]}"#;
        assert_eq!(Form::Ollama.vectors(body, 1).unwrap(), [[0.6, 0.8]]);
    }

    #[test]
    fn nonsense_is_named() {
        for (body, wrong) in [
            ("<html>", "is not of this form"),
            (r#"{"embeddings":[[1],[2]]}"#, "has 2 vectors for 1 texts"),
            (r#"{"embeddings":[[]]}"#, "has vectors of 0 numbers"),
            (r#"{"embeddings":[[0,0]]}"#, "without a direction"),
            (r#"{"embeddings":[[1e38,1e38]]}"#, "without a direction"),
        ] {
            let error = Form::Ollama.vectors(body.as_bytes(), 1).unwrap_err();
            assert!(error.contains(wrong), "{body}: {error}");
        }
        let twice = br#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#;
        assert!(Form::Openai.vectors(twice, 2).unwrap_err().contains("wrongly"));
        let uneven = br#"{"embeddings":[[1,0],[1]]}"#;
        assert!(Form::Ollama.vectors(uneven, 2).unwrap_err().contains("different lengths"));
    }
}
