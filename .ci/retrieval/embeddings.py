"""A stand-in for an embeddings endpoint, with real embeddings: all-MiniLM-L6-v2 in NumPy, in
OpenAI's form, on 127.0.0.1. It refuses what the real one refuses: a wrong key, an unknown model,
empty inputs, more than 2,048 inputs, and inputs of more than 8,191 tokens.

Usage: embeddings.py MODEL_FOLDER CACHE_FILE KEY     prints its base URL, and serves until it is killed.
"""

import hashlib
import json
import os
import sqlite3
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Two threads that wait for one another on a busy machine are slower than one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

MODEL = "all-MiniLM-L6-v2"
INPUTS_MAX = 2048
INPUT_TOKENS_MAX = 8191
REQUEST_TOKENS_MAX = 300_000
# What the model was trained with; the rest of a longer text is not looked at.
SEEN_TOKENS_MAX = 256
BATCH_TOKENS = 4096
HEADS = 12


class Bert:
    """The forward pass, mean pooling and normalisation."""

    def __init__(self, folder):
        self.weights = load_file(f"{folder}/model.safetensors")
        self.tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def tokens(self, text):
        return self.tokenizer.encode(text).ids

    def embed(self, all_tokens):
        seen = [t[: SEEN_TOKENS_MAX - 1] + [t[-1]] if len(t) > SEEN_TOKENS_MAX else t for t in all_tokens]
        order = sorted(range(len(seen)), key=lambda at: len(seen[at]))
        out = [None] * len(seen)
        while order:
            longest = len(seen[order[0]])
            batch = []
            while order and (len(batch) + 1) * max(longest, len(seen[order[0]])) <= max(BATCH_TOKENS, longest):
                longest = max(longest, len(seen[order[0]]))
                batch.append(order.pop(0))
            for at, vector in zip(batch, self.forward([seen[at] for at in batch], longest)):
                out[at] = vector
        return out

    def forward(self, batch, length):
        w = self.weights
        ids = np.zeros((len(batch), length), dtype=np.int64)
        mask = np.zeros((len(batch), length), dtype=np.float32)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][:length]
        x = self.norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        layer = 0
        while f"encoder.layer.{layer}.output.dense.weight" in w:
            x = self.layer(x, mask, f"encoder.layer.{layer}")
            layer += 1
        pooled = (x * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def layer(self, x, mask, name):
        many, length, width = x.shape

        def heads(part):
            y = self.dense(x, f"{name}.attention.self.{part}")
            return y.reshape(many, length, HEADS, width // HEADS).transpose(0, 2, 1, 3)

        q, k, v = heads("query"), heads("key"), heads("value")
        scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(width // HEADS, dtype=np.float32)
        scores += (1 - mask[:, None, None, :]) * np.float32(-1e9)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        y = (scores @ v).transpose(0, 2, 1, 3).reshape(many, length, width)
        x = self.norm(x + self.dense(y, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        y = gelu(self.dense(x, f"{name}.intermediate.dense"))
        return self.norm(x + self.dense(y, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def dense(self, x, name):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-12))
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def gelu(x):
    """With the error function of Abramowitz and Stegun 7.1.26, exact to 1.5e-7."""
    z = np.abs(x) * np.float32(0.7071067811865476)
    t = 1 / (1 + np.float32(0.3275911) * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - poly * np.exp(-z * z))
    return (x * np.float32(0.5) * (1 + erf)).astype(np.float32)


class Cached:
    """Embeds each text once, also over several runs."""

    def __init__(self, bert, path):
        self.bert, self.lock = bert, threading.Lock()
        self.db = sqlite3.connect(path, check_same_thread=False)
        self.db.execute("CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, vector BLOB)")

    def embed(self, texts, tokens):
        with self.lock:
            digests = [hashlib.sha256(text.encode()).digest() for text in texts]
            known = {}
            for digest in digests:
                row = self.db.execute("SELECT vector FROM vectors WHERE digest = ?", (digest,)).fetchone()
                if row:
                    known[digest] = np.frombuffer(row[0], dtype=np.float32)
            new = {digest: at for at, digest in enumerate(digests) if digest not in known}
            for digest, vector in zip(new, self.bert.embed([tokens[at] for at in new.values()])):
                known[digest] = vector
                self.db.execute("INSERT OR IGNORE INTO vectors VALUES (?, ?)", (digest, vector.tobytes()))
            self.db.commit()
            return [known[digest] for digest in digests]


class Refused(Exception):
    def __init__(self, status, message, code=None):
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


def answer(cached, asked):
    if asked.get("model") != MODEL:
        raise Refused(404, f"The model `{asked.get('model')}` does not exist", "model_not_found")
    if "dimensions" in asked:
        raise Refused(400, "This model does not support specifying dimensions.")
    if asked.get("encoding_format", "float") != "float":
        raise Refused(400, "only `float` is served")
    texts = asked.get("input")
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise Refused(400, "'$.input' is invalid.")
    if len(texts) > INPUTS_MAX:
        raise Refused(400, f"'$.input' is too long: at most {INPUTS_MAX} inputs.")
    tokens = [cached.bert.tokens(text) for text in texts]
    if max(map(len, tokens)) > INPUT_TOKENS_MAX:
        raise Refused(400, "This model's maximum context length is 8192 tokens.")
    if sum(map(len, tokens)) > REQUEST_TOKENS_MAX:
        raise Refused(400, f"at most {REQUEST_TOKENS_MAX} tokens a request.", "max_tokens_per_request")
    vectors = cached.embed(texts, tokens)
    data = [{"object": "embedding", "index": at, "embedding": [float(x) for x in v]} for at, v in enumerate(vectors)]
    used = sum(map(len, tokens))
    return {"object": "list", "data": data, "model": MODEL, "usage": {"prompt_tokens": used, "total_tokens": used}}


def handler(cached, key):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            try:
                if self.path != "/v1/embeddings":
                    raise Refused(404, f"Invalid URL (POST {self.path})")
                if self.headers.get("authorization") != f"Bearer {key}":
                    raise Refused(401, "Incorrect API key provided.", "invalid_api_key")
                self.reply(200, answer(cached, json.loads(body)))
            except Refused as refused:
                error = {"message": refused.message, "type": "invalid_request_error", "param": None, "code": refused.code}
                self.reply(refused.status, {"error": error})

        def reply(self, status, value):
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


def main():
    folder, cache, key = sys.argv[1:]
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(Cached(Bert(folder), cache), key))
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
