# An image with cwndlab installed from a wheel, and no compiler:
#
#   docker build -t cwndlab . && docker run --rm -v "$PWD:/work" cwndlab demo
#
# Its stage `dev` is the development container. Not built yet on a machine with Docker.
FROM node:22-bookworm-slim AS node

FROM rust:1.95-bookworm AS dev
# Debian's Node is older than the studio's tools ask for.
COPY --from=node /usr/local/bin/node /usr/local/bin/
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
    && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
RUN apt-get update && apt-get install -y --no-install-recommends \
        git make python3-venv unzip chromium \
    && rm -rf /var/lib/apt/lists/* \
    && rustup component add clippy rustfmt \
    && rustup target add wasm32-unknown-unknown

FROM dev AS wheel
COPY . /cwndlab
WORKDIR /cwndlab
RUN make web wheel

FROM python:3.13-slim-bookworm
COPY --from=wheel /cwndlab/dist/*.whl /tmp/
RUN pip install --no-cache-dir /tmp/*.whl && rm /tmp/*.whl && useradd --create-home lab
USER lab
WORKDIR /work
ENTRYPOINT ["cwndlab"]
CMD ["--help"]
