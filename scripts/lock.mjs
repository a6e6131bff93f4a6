/** A lock between processes that work on one folder. */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'

const HEARTBEAT_MS = 2000
/** A holder that is alive touches the lock all the time; after 30 seconds without, it is gone, or was asleep. */
const STALE_MS = 30_000

/** Runs `work` while no other process holds the lock at `path`; `say` hears when that has to wait. */
export async function locked(path, say, work) {
  mkdirSync(dirname(path), { recursive: true })
  for (let waited = false; !take(path); waited = true) {
    if (!waited) say('another process is preparing this folder; waiting for it …')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const release = () => rmSync(path, { force: true })
  const heartbeat = setInterval(() => touch(path), HEARTBEAT_MS)
  process.on('exit', release)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    process.off('exit', release)
    release()
  }
}

function take(path) {
  try {
    writeFileSync(path, JSON.stringify({ pid: process.pid, host: hostname() }), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  const holder = read(path)
  if (holder === null || !isStale(path, holder)) return false
  removeStale(path, holder)
  return take(path)
}

function isStale(path, holder) {
  // Empty: made a moment ago, and not written yet.
  if (holder !== '') {
    const { pid, host } = JSON.parse(holder)
    if (host === hostname() && !isAlive(pid)) return true
  }
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && Date.now() - found.mtimeMs > STALE_MS
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Of several that see the same stale lock, one moves it away; who moved a newer one instead puts it back. */
function removeStale(path, holder) {
  const away = `${path}.${process.pid}`
  try {
    renameSync(path, away)
    const moved = readFileSync(away, 'utf8')
    if (moved !== holder) writeFileSync(path, moved, { flag: 'wx' })
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error
  } finally {
    rmSync(away, { force: true })
  }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

function touch(path) {
  try {
    utimesSync(path, new Date(), new Date())
  } catch {
    // Taken from us while the machine slept; the work is nearly done either way.
  }
}
