#!/usr/bin/env python3
"""serve.py MODEL TEMPLATE PORT: a small model behind llama.cpp's own HTTP server, on the processor and
on loopback, until the process ends. The package is built for any processor of this kind."""

import signal
import sys

import xllamacpp

model, template, port = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = model
params.n_gpu_layers = 0
params.n_ctx = 8192
params.n_parallel = 1
params.use_jinja = True
params.offline = True
params.hostnames = ["127.0.0.1"]
params.port = int(port)
with open(template, encoding="utf-8") as file:
    params.chat_template = file.read()
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
signal.pause()
