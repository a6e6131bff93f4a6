/** One group: its settings, and its last items as they are appended. */

import { useEffect, useRef, useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { Item } from '../shared/group-types'
import { link } from './address'
import { ask, isAccessError } from './api'
import { GroupSettings } from './group-settings'
import { Items } from './items'
import { LiveGroup, type LiveView } from './live'
import { Badge, counted, Loading, Name, Num, PageHead, Problem } from './parts'
import { usePolled } from './polled'
import { session } from './session'

const SETTINGS_MS = 5000
const SAY_MS = 5000

const CONNECTING: LiveView = { state: 'connecting', error: null, recent: null, arrived: new Set(), arrivals: 0 }

function useLive(group: string) {
  const [view, setView] = useState(CONNECTING)
  const live = useRef<LiveGroup | null>(null)
  useEffect(() => {
    const connected = new LiveGroup(group, setView)
    live.current = connected
    const off = session.onChange(() => connected.forget())
    return () => {
      off()
      connected.end()
    }
  }, [group])
  return { view, live }
}

export function GroupPage({ group }: { group: string }) {
  const { view, live } = useLive(group)
  const settings = usePolled((signal) => ask(operations.getGroup, { path: { group } }, signal), group, SETTINGS_MS)
  const { recent } = view
  const wasThere = useRef(false)
  if (settings.data !== null) wasThere.current = true
  const refusal = [view.error, settings.error].find((error) => error !== null && isAccessError(error))
  return (
    <>
      <PageHead over={<a href={link(['groups'])}>Groups</a>} title={<Name>{group}</Name>}>
        {!refusal && <Connection view={view} live={live} />}
      </PageHead>
      {refusal && <Problem error={refusal} />}
      {!refusal && settings.data !== null && (
        <GroupSettings
          group={settings.data}
          totalAppended={recent?.totalAppended ?? settings.data.totalAppended}
          onSaved={settings.refresh}
        />
      )}
      {!refusal && settings.error !== null && settings.error.status !== 404 && <Problem error={settings.error} />}
      {settings.error?.status === 404 && (
        <p class="empty panel">
          {wasThere.current
            ? 'Another user has deleted this group. The next append makes a new one.'
            : 'There is no such group yet. The first append makes it.'}
        </p>
      )}
      {!refusal && recent === null && <Loading />}
      {!refusal && recent !== null && <LastItems view={view} live={live} />}
      <Spoken view={view} />
    </>
  )
}

interface LiveProps {
  view: LiveView
  live: { current: LiveGroup | null }
}

const STATE_WORDS = {
  connecting: 'Connecting …',
  live: 'Live',
  paused: 'Paused',
  reconnecting: 'Reconnecting …',
} as const

function Connection({ view: { state }, live }: LiveProps) {
  const isPaused = state === 'paused'
  return (
    <div class="row">
      <span class={`connection ${state}`} role="status">
        {STATE_WORDS[state]}
      </span>
      <button type="button" onClick={() => (isPaused ? live.current?.resume() : live.current?.pause())}>
        {isPaused ? 'Resume' : 'Pause'}
      </button>
    </div>
  )
}

/** The page is being read: an item is open, or the page is scrolled. */
function useReading(section: { current: HTMLElement | null }): boolean {
  const [isReading, setReading] = useState(false)
  useEffect(() => {
    const look = () => {
      const top = section.current?.getBoundingClientRect().top ?? 1
      setReading(top < 0 || section.current?.querySelector('details[open]') != null)
    }
    addEventListener('scroll', look, { passive: true })
    // An item that is opened tells it to no element above it.
    addEventListener('toggle', look, { capture: true })
    return () => {
      removeEventListener('scroll', look)
      removeEventListener('toggle', look, { capture: true })
    }
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

function LastItems({ view: { recent, arrived }, live }: LiveProps) {
  const section = useRef<HTMLElement>(null)
  const isReading = useReading(section)
  const { shown: items, newer, gone } = useHeld(recent?.items ?? [], isReading)
  if (recent === null) return null
  const { nextBefore } = recent
  const isTop = recent.mode === 'top'
  const release = () => {
    for (const open of section.current?.querySelectorAll('details[open]') ?? []) open.removeAttribute('open')
    scrollTo(0, 0)
  }
  return (
    <section ref={section} aria-labelledby="items">
      {newer + gone > 0 && (
        <div class="held">
          <button type="button" onClick={release}>
            {newer > 0 ? `${newer} new` : 'Show the items of now'}
          </button>
          {gone > 0 && <span class="muted">{counted(gone, 'item')} below have left the group.</span>}
        </div>
      )}
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
          <button type="button" onClick={() => live.current?.older()}>
            Show {isTop ? 'lower scores' : 'older items'}
          </button>
        </p>
      )}
    </section>
  )
}

/** Tells screen readers how many items were appended, at most every few seconds. */
function Spoken({ view: { arrivals } }: { view: LiveView }) {
  const [said, setSaid] = useState({ arrivals: 0, text: '' })
  useEffect(() => {
    if (arrivals === said.arrivals) return
    const text = counted(arrivals - said.arrivals, 'new item')
    const timer = setTimeout(() => setSaid({ arrivals, text }), said.arrivals === 0 ? 0 : SAY_MS)
    return () => clearTimeout(timer)
  }, [arrivals, said])
  return (
    <p class="hidden" aria-live="polite">
      {said.text}
    </p>
  )
}
