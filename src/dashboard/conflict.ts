/** Settings that somebody else has changed since they were read: the save fails and says so. Nothing is overwritten. */
import type { Group } from '../client/wire'
import { RecentnError } from '../errors'
import { differences } from './settings-fields'

/**
 * Runs `save`. If the settings were no longer `was`, passes the current ones to `onNow` and throws an error that says what
 * has changed.
 */
export async function saving<T>(
  save: () => Promise<unknown>,
  was: Group['own'],
  { look, settingsOf, onNow }: { look(): Promise<T>; settingsOf(now: T): Group['own']; onNow(now: T): void },
): Promise<void> {
  try {
    await save()
  } catch (thrown) {
    if (!(thrown instanceof RecentnError) || thrown.code !== 'settings_changed') throw thrown
    const now = await look().catch((error) => {
      if (error instanceof RecentnError && error.status === 404) throw changed('It has been deleted meanwhile.')
      throw error
    })
    onNow(now)
    throw changed(`Somebody else has changed these settings meanwhile: ${differences(was, settingsOf(now))}.`)
  }
}

const changed = (what: string) => new RecentnError('settings_changed', `${what} Nothing was saved.`)
