/** The frame of every page: navigation, the key, and the focus, which moves to the heading of the page that is opened. */
import './styles/all.css'
import { render } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { link, type PageAddress, usePageAddress } from './address'
import { EntryPage } from './feed-changes'
import { FeedPage } from './feed-page'
import { FeedsPage } from './feeds-page'
import { GroupPage } from './group-page'
import { GroupsPage } from './groups-page'
import { KeyPage } from './key-page'
import { WithAccess } from './may'
import { MemberPage } from './member-page'
import { MessagePage } from './message-page'
import { OutageBar } from './outage'
import { OverviewPage } from './overview-page'
import { PoliciesPage } from './policies-page'
import { PolicyPage } from './policy-page'
import { QueuePage } from './queue-page'
import { QueuesPage } from './queues-page'
import { SchedulePage } from './schedule-page'
import { SchedulesPage } from './schedules-page'
import { hasKeys, keyName, useKey } from './session'
import { Toasts } from './toast'

const MENU = [
  ['overview', 'Overview'],
  ['queues', 'Queues'],
  ['schedules', 'Schedules'],
  ['groups', 'Groups'],
  ['policies', 'Policies'],
  ['feeds', 'Feeds'],
] as const

/** The pages that are reached from another one, which the navigation marks. */
const PAGE_ABOVE: Readonly<Record<string, string>> = { members: 'groups' }

function Page({ address: { parts, query } }: { address: PageAddress }) {
  const [first = 'overview', name, second, id] = parts
  const after = query.get('after')
  const listed = {
    ...{ prefix: query.get('prefix'), contains: query.get('contains'), after },
    ...{ state: query.get('state'), sort: query.get('sort') },
  }
  if (first === 'key' && hasKeys) return <KeyPage />
  if (first === 'overview') return <OverviewPage />
  if (first === 'groups') {
    return name === undefined ? <GroupsPage listed={listed} /> : <GroupPage key={name} group={name} />
  }
  if (first === 'policies') {
    return name === undefined ? <PoliciesPage listed={listed} /> : <PolicyPage key={name} prefix={name} />
  }
  if (first === 'members' && name !== undefined)
    return <MemberPage key={name} member={name} before={query.get('before')} />
  if (first === 'queues') {
    if (name === undefined) return <QueuesPage listed={listed} />
    if (second === 'messages' && id !== undefined && /^\d+$/.test(id)) {
      return <MessagePage key={`${name}/${id}`} queue={name} id={BigInt(id)} />
    }
    const [state, error, from] = [query.get('state'), query.get('error'), query.get('from')]
    return <QueuePage key={name} queue={name} state={state} error={error} from={from} after={after} />
  }
  if (first === 'schedules') {
    return name === undefined ? <SchedulesPage listed={listed} /> : <SchedulePage key={name} schedule={name} />
  }
  if (first === 'feeds') {
    if (name === undefined) return <FeedsPage listed={listed} />
    if (second === 'entries' && id !== undefined) return <EntryPage key={`${name}/${id}`} feed={name} entry={id} />
    return <FeedPage key={name} feed={name} after={after} />
  }
  return (
    <>
      <h1 tabIndex={-1}>Nothing is here</h1>
      <p>
        There is no such page. <a href={link([])}>To the overview</a>
      </p>
    </>
  )
}

function App() {
  const address = usePageAddress()
  const main = useRef<HTMLElement>(null)
  useHeadingFocus(main, address.parts.join('/'))
  useScroll(address)
  const [first = 'overview'] = address.parts
  const current = PAGE_ABOVE[first] ?? first
  // Not a link: the hash is the address of the page, and #main would leave it.
  const skip = () => main.current?.querySelector('h1')?.focus()
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <header>
        <a class="brand" href={link([])}>
          <Ring />
          recentn
        </a>
        <nav aria-label="Main">
          {MENU.map(([part, title]) => (
            <a
              key={part}
              href={link(part === 'overview' ? [] : [part])}
              aria-current={part === current ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        {hasKeys && <KeyLink isCurrent={current === 'key'} />}
      </header>
      <main ref={main} id="main">
        <WithAccess>
          <Page address={address} />
        </WithAccess>
      </main>
      <Toasts />
      <OutageBar />
      <footer>
        <a href="docs">REST reference</a>
        <span>recentn {RECENTN_VERSION}</span>
      </footer>
    </>
  )
}

/** Screen readers learn from the focus and the title that the page has changed; not for the first page. */
function useHeadingFocus(main: { current: HTMLElement | null }, path: string): void {
  const isFirst = useRef(true)
  useEffect(() => {
    const heading = main.current?.querySelector('h1')
    document.title = heading?.textContent ? `${heading.textContent} · recentn` : 'recentn'
    if (!isFirst.current) {
      heading?.focus({ preventScroll: true })
    }
    isFirst.current = false
  }, [path])
}

/** Where each step of the browser's history was scrolled to: the way back leads there, a new page begins at its top. */
const scrolls = new Map<unknown, number>()
history.scrollRestoration = 'manual'
addEventListener('scroll', () => scrolls.set(history.state?.at, scrollY), { passive: true })

function useScroll(address: PageAddress): void {
  useLayoutEffect(() => {
    const at = history.state?.at
    if (at === undefined) history.replaceState({ at: Date.now() }, '')
    scrollTo(0, at === undefined ? 0 : (scrolls.get(at) ?? 0))
  }, [address])
}

function KeyLink({ isCurrent }: { isCurrent: boolean }) {
  const key = useKey()
  return (
    <a class="key" href={link(['key'])} aria-current={isCurrent ? 'page' : undefined}>
      {key === null ? 'No key' : keyName(key)}
    </a>
  )
}

function Ring() {
  return (
    <svg
      viewBox="0 0 32 32"
      width="20"
      height="20"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      stroke-width="5"
    >
      <path d="M16 4.5A11.5 11.5 0 0 1 27.5 16" />
      <path d="M27.5 16A11.5 11.5 0 0 1 16 27.5" opacity=".75" />
      <path d="M16 27.5A11.5 11.5 0 0 1 4.5 16" opacity=".5" />
      <path d="M4.5 16A11.5 11.5 0 0 1 16 4.5" opacity=".25" />
    </svg>
  )
}

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
