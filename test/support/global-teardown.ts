export default async function globalTeardown(): Promise<void> {
  await Promise.all((globalThis.recentnTestServers ?? []).map((server) => server.stop()))
  globalThis.recentnTestFiles?.remove()
}
