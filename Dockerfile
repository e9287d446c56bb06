# syntax=docker/dockerfile:1
# One image for every role: `serve` (the default), `serve --role api`, `serve --role worker`, or any other command of Quadmill.

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Scripts of packages are for other platforms and for tests; ours builds what is not there yet.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY bin bin
COPY src src
COPY queues queues
COPY workers workers
COPY api api
COPY client client
COPY studio studio
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY bin/quadmill.js bin/quadmill.js
# The program xz is for .tar.xz. A volume that is mounted here for the first time belongs to the user of the service.
RUN apt-get update && apt-get install -y --no-install-recommends xz-utils && rm -rf /var/lib/apt/lists/* \
  && mkdir /data && chown 1000:1000 /data
USER 1000:1000
VOLUME /data
EXPOSE 8080
# Of a certificate of TLS_CERT nothing is checked: it is that of the service's name, and this asks the machine itself.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; fetch(`${process.env.TLS_CERT ? 'https' : 'http'}://127.0.0.1:${process.env.PORT}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# As the first process, Node ends for SIGTERM because Quadmill listens to it: it drains, then exits with 0. No init is needed: it
# waits for the children that it starts, and the image has no redis-server.
ENTRYPOINT ["node", "bin/quadmill.js"]
CMD ["serve"]
