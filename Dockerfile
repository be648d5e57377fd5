# syntax=docker/dockerfile:1
# Build with: docker buildx bake. Both stages are the official image; nothing is compiled, so one build serves every platform.
ARG NODE_IMAGE=node:24-slim

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No script of a package runs.
RUN npm ci --ignore-scripts
COPY scripts/build.mjs scripts/old-node-shims.mjs scripts/sbom.mjs scripts/
COPY src src
RUN node scripts/build.mjs \
 && find dist -name '*.map' -delete \
 && node scripts/sbom.mjs > sbom.cdx.json

FROM ${NODE_IMAGE}
# Only Node itself is needed to run.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
    /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-*
ENV NODE_ENV=production
WORKDIR /app
COPY LICENSE package.json ./
COPY bin bin
COPY charts charts
COPY deploy deploy
# The bundle holds the dependencies: there is no node_modules.
COPY --from=build /app/dist dist
COPY --from=build /app/sbom.cdx.json ./
USER 65532:65532
# Metrics, health, agent, webhook.
EXPOSE 8080 8081 8082 9443
ENTRYPOINT ["node", "/app/bin/stowage.mjs"]
