# One image for every command: `docker run … recentn serve`, `… keys create`, `… doctor`, `… migrate`.
# What it holds is decided by package-lock.json. docs/operating.md says how to run it.
#
# BASE is any Debian image with Node and npm, such as node:20-bookworm-slim. The default is pinned, so that a build today
# and one next month begin from the same bytes: the digest of the index for all platforms, of Node 24.18.0. To move it:
# docker buildx imagetools inspect node:24-bookworm-slim
ARG BASE=node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d

FROM ${BASE} AS build
# For better-sqlite3, which compiles where no prebuilt binary can be fetched.
RUN apt-get update \
  && apt-get install -y --no-install-recommends python3 make g++ \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# The packages before the sources: a change of the sources alone installs nothing anew.
COPY package.json package-lock.json ./
COPY scripts/lib.mjs scripts/lock.mjs scripts/
# Node's own headers, where they are: node-gyp would fetch them from nodejs.org.
RUN if [ -d /usr/local/include/node ]; then export npm_config_nodedir=/usr/local; fi \
  && node --input-type=module -e "import { ensureInstalled, fail } from '/app/scripts/lib.mjs'; await ensureInstalled().catch(fail)"
COPY . .
RUN node scripts/build.mjs
# What is left is what runs: no compiler, no test tools, and of the SQLite driver not the sources it was compiled from.
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
  && cd node_modules/better-sqlite3 && rm -rf deps src build/deps build/Release/obj build/Release/obj.target build/Release/.deps \
  && cd /app && node -e "new (require('better-sqlite3'))(':memory:').close()"

FROM ${BASE}
LABEL org.opencontainers.image.title="recentn" \
  org.opencontainers.image.description="The last N of everything, work queues and feeds on the SQL database that you already run" \
  org.opencontainers.image.licenses="MIT"
# 0.0.0.0, for nothing reaches a container's loopback: so it starts when there is an API key, or with
# RECENTN_ALLOW_ANONYMOUS=1. SQLite in the volume unless DATABASE_URL says otherwise.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATABASE_URL=sqlite:/data/recentn.db
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE /app/CHANGELOG.md ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/docs docs
# A volume that is made from here is this user's too. By number, so that Kubernetes sees that it is not root.
RUN install -d -o 1000 -g 1000 /data
VOLUME /data
USER 1000:1000
EXPOSE 3000
# That the process answers; /readyz says whether the database does, and no restart of ours mends a database.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/livez').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node itself, so that it is node that gets SIGTERM, and drains.
ENTRYPOINT ["node", "/app/dist/src/cli.js"]
CMD ["serve"]
