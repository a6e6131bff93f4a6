/** One group: its settings, and its last items as they are appended. */

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { UntaggedRecent } from '../client/schemas'
import type { Item } from '../shared/group-types'
import { ask, isAccessError } from './api'
import { GroupSettings } from './group-settings'
import { Held, Items } from './items'
import { CONNECTING, LiveGroup, type LiveView } from './live'
import { Badge, counted, LoadState, Name, Num, PageHead, Problem, WayUp } from './parts'
import { usePolled } from './polled'

const SETTINGS_MS = 5000
const SAY_MS = 5000

export function GroupPage({ group }: { group: string }) {
  const [view, setView] = useState(CONNECTING)
  useEffect(() => {
    const live = new LiveGroup(group, setView)
    return () => live.end()
  }, [group])
  const load = (signal: AbortSignal) => ask(operations.getGroup, { path: { group } }, signal)
  const { data, error, refresh } = usePolled(load, group, SETTINGS_MS)
  const { recent } = view
  const wasThere = useRef(false)
  if (data !== null) wasThere.current = true
  const refusal = [view.error, error].find((each) => each !== null && isAccessError(each))
  return (
    <>
      <PageHead over={<WayUp to={['groups']} />} title={<Name>{group}</Name>}>
        {!refusal && <Connection {...view} />}
      </PageHead>
      {refusal && <Problem error={refusal} />}
      {!refusal && data !== null && (
        <GroupSettings group={{ ...data, ...(recent && { totalAppended: recent.totalAppended }) }} onSaved={refresh} />
      )}
      {!refusal && error?.status !== 404 && <LoadState data={data} error={error} />}
      {error?.status === 404 && (
        <p class="empty panel">
          {wasThere.current
            ? 'Another user has deleted this group. The next append makes a new one.'
            : 'There is no such group yet. The first append makes it.'}
        </p>
      )}
      {/* The settings stand above them, and would push them down if they came later. */}
      {!refusal && recent !== null && (data ?? error) !== null && <LastItems {...view} recent={recent} />}
      <Spoken arrivals={view.arrivals} />
    </>
  )
}

const STATE_WORDS = { connecting: 'Connecting …', live: 'Live', paused: 'Paused', reconnecting: 'Reconnecting …' }

function Connection({ state, live }: LiveView) {
  const isPaused = state === 'paused'
  return (
    <div class="row">
      <span class={`connection ${state}`} role="status">
        {STATE_WORDS[state]}
      </span>
      <button type="button" onClick={() => (isPaused ? live?.resume() : live?.pause())}>
        {isPaused ? 'Resume' : 'Pause'}
      </button>
    </div>
  )
}

/** The page is being read, from the moment that it is drawn: an item is open, or the page is scrolled. */
function useReading(section: { current: HTMLElement | null }): boolean {
  const [isReading, setReading] = useState(false)
  useLayoutEffect(() => {
    const ending = new AbortController()
    const look = () => {
      const top = section.current?.getBoundingClientRect().top ?? 1
      setReading(top < 0 || section.current?.querySelector('details[open]') != null)
    }
    addEventListener('scroll', look, { passive: true, signal: ending.signal })
    // An item that is opened tells it to no element above it.
    addEventListener('toggle', look, { capture: true, signal: ending.signal })
    return () => ending.abort()
  }, [])
  return isReading
}

/** Those that were there when reading began stay, and newer ones wait; older ones are added. */
function useHeld(items: readonly Item[], isReading: boolean) {
  const held = useRef<readonly Item[]>(items)
  const [first, last] = [held.current[0], held.current.at(-1)]
  if (!isReading || first === undefined || last === undefined) held.current = items
  else held.current = [...held.current, ...items.filter(({ id }) => id < last.id)]
  const newer = isReading && first !== undefined ? items.filter(({ id }) => id > first.id).length : 0
  const ids = new Set(items.map(({ id }) => id))
  return { shown: held.current, newer, gone: held.current.filter(({ id }) => !ids.has(id)).length }
}

function LastItems({ recent, arrived, live }: LiveView & { recent: UntaggedRecent }) {
  const section = useRef<HTMLElement>(null)
  const isReading = useReading(section)
  const { shown: items, newer, gone } = useHeld(recent.items, isReading)
  const { nextBefore } = recent
  const isTop = recent.mode === 'top'
  const release = () => {
    for (const open of section.current?.querySelectorAll('details[open]') ?? []) open.removeAttribute('open')
    scrollTo(0, 0)
  }
  return (
    <section ref={section} aria-labelledby="items">
      {newer + gone > 0 && <Held newer={newer} gone={gone} onShow={release} />}
      <h2 id="items">
        {isTop ? 'Highest scores' : 'Last items'}{' '}
        <Badge>
          {nextBefore !== null && (isTop ? 'highest ' : 'newest ')}
          <Num value={recent.items.length} />
        </Badge>
      </h2>
      <Items items={items} of="group" arrived={arrived} empty="No items. What is appended appears here." />
      {nextBefore !== null && (
        <p class="pager">
          <button type="button" onClick={() => live?.older()}>
            Show {isTop ? 'lower scores' : 'older items'}
          </button>
        </p>
      )}
    </section>
  )
}

/** Tells screen readers how many items were appended, at most every few seconds. */
function Spoken({ arrivals }: { arrivals: number }) {
  const [said, setSaid] = useState({ arrivals: 0, items: 0 })
  useEffect(() => {
    if (arrivals === said.arrivals) return
    const items = arrivals - said.arrivals
    const timer = setTimeout(() => setSaid({ arrivals, items }), said.arrivals === 0 ? 0 : SAY_MS)
    return () => clearTimeout(timer)
  }, [arrivals, said])
  return (
    <p class="hidden" aria-live="polite">
      {said.items > 0 && counted(said.items, 'new item')}
    </p>
  )
}
