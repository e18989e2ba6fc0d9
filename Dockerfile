# The service and the page in a container: see docs/integrations.md.
#   docker build -t redraft .
# With CUDA, PyPI's own build of torch:
#   docker build -t redraft:cuda --build-arg TORCH_INDEX=https://pypi.org/simple .
# For a Ray cluster, with deploy/Dockerfile on top: --build-arg EXTRAS=serve,mcp,ray

FROM python:3.13-slim-bookworm AS build
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
WORKDIR /source
COPY constraints.txt ./
# torch by itself: it is large, changes seldom, and comes from another index.
RUN python -m venv --without-pip /opt/redraft \
    && pip --python /opt/redraft/bin/python install --no-cache-dir \
        --index-url "$TORCH_INDEX" --extra-index-url https://pypi.org/simple "$(grep '^torch==' constraints.txt)"
COPY pyproject.toml README.md LICENSE LICENSE-MODELS.md NOTICE ./
COPY src src
ARG EXTRAS=serve,mcp
RUN pip --python /opt/redraft/bin/python install --no-cache-dir --constraint constraints.txt ".[$EXTRAS]"

FROM python:3.13-slim-bookworm
RUN useradd --system --user-group --uid 10001 --no-create-home --home-dir /tmp redraft
COPY --from=build /opt/redraft /opt/redraft
# Models of other names are never downloaded: mount a folder and give its path. Only /tmp is written to.
ENV PATH=/opt/redraft/bin:$PATH HF_HUB_OFFLINE=1 HF_HOME=/tmp/huggingface PYTHONUNBUFFERED=1
USER 10001:10001
WORKDIR /tmp
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=90s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["redraft"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
