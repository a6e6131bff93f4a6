/** Settings that somebody else has changed since they were read: who saves is told, and nothing is overwritten. */
import { ApiError } from './api'
import { differences } from './settings-fields'
import type { Group } from './types'

/**
 * Runs `save`. Where the settings were no longer `was`, what they are now goes to `onNow`, and the error says what has
 * changed.
 */
export async function saving<T>(
  save: () => Promise<unknown>,
  was: Group['own'],
  { look, settingsOf, onNow }: { look(): Promise<T>; settingsOf(now: T): Group['own']; onNow(now: T): void },
): Promise<void> {
  try {
    await save()
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.code !== 'settings_changed') throw thrown
    const now = await look().catch((error) => {
      if (error instanceof ApiError && error.status === 404) throw changed('It has been deleted meanwhile.')
      throw error
    })
    onNow(now)
    throw changed(`Somebody else has changed these settings meanwhile: ${differences(was, settingsOf(now))}.`)
  }
}

const changed = (what: string) => new ApiError(409, 'settings_changed', `${what} Nothing was saved.`)
