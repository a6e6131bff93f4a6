/** The frame of every page: navigation, the key, and the focus, which moves to the heading of the page that is opened. */
import './styles/all.css'
import { render, type VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { link, PARTS, type PageAddress, type PageQuery, usePageAddress } from './address'
import { EntryPage } from './feed-changes'
import { FeedPage, FeedsPage } from './feed-page'
import { GroupPage } from './group-page'
import { GroupsPage } from './groups-page'
import { KeyPage } from './key-page'
import { WithAccess } from './may'
import { MemberPage } from './member-page'
import { MessagePage } from './message-page'
import { OutageBar } from './outage'
import { OverviewPage } from './overview-page'
import { PoliciesPage, PolicyPage } from './policy-page'
import { QueuePage } from './queue-page'
import { QueuesPage } from './queues-page'
import { SchedulePage, SchedulesPage } from './schedule-page'
import { hasKeys, keyName, useKey } from './session'
import { Toasts } from './toast'

/** The pages that are reached from another one, which the navigation marks. */
const PAGE_ABOVE: Readonly<Record<string, string>> = { members: 'groups' }

type Route = (query: PageQuery, name: string, inner: string) => VNode | false

/** By the shape of the address, in which a star is a name. */
const ROUTES = new Map<string, Route>([
  ['', () => <OverviewPage />],
  ['overview', () => <OverviewPage />],
  ['key', () => hasKeys && <KeyPage />],
  ['queues', (query) => <QueuesPage listed={query} />],
  ['queues/*', (query, name) => <QueuePage queue={name} query={query} />],
  ['queues/*/messages/*', (_, name, id) => /^\d+$/.test(id) && <MessagePage queue={name} id={BigInt(id)} />],
  ['schedules', (query) => <SchedulesPage listed={query} />],
  ['schedules/*', (_, name) => <SchedulePage schedule={name} />],
  ['groups', (query) => <GroupsPage listed={query} />],
  ['groups/*', (_, name) => <GroupPage group={name} />],
  ['members/*', ({ before }, name) => <MemberPage member={name} before={before} />],
  ['policies', (query) => <PoliciesPage listed={query} />],
  ['policies/*', (_, name) => <PolicyPage prefix={name} />],
  ['feeds', (query) => <FeedsPage listed={query} />],
  ['feeds/*', ({ after }, name) => <FeedPage feed={name} after={after} />],
  ['feeds/*/entries/*', (_, name, key) => <EntryPage feed={name} entry={key} />],
])

function Page({ address: { parts, query } }: { address: PageAddress }) {
  const [, name = '', , inner = ''] = parts
  const shape = parts.map((part, at) => (at % 2 === 1 ? '*' : part))
  const pageOf = (length: number) => ROUTES.get(shape.slice(0, length).join('/'))?.(query, name, inner)
  // Parts that no page knows are left out.
  const page = pageOf(4) || pageOf(2) || pageOf(1)
  if (page) return page
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
          <MenuLink part="overview" title="Overview" current={current} />
          {Object.entries(PARTS).map(([part, { title }]) => (
            <MenuLink key={part} part={part} title={title} current={current} />
          ))}
        </nav>
        {hasKeys && <KeyLink isCurrent={current === 'key'} />}
      </header>
      <main ref={main} id="main">
        <WithAccess>
          <Page key={link(address.parts)} address={address} />
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

function MenuLink({ part, title, current }: { part: string; title: string; current: string }) {
  return (
    <a href={link(part === 'overview' ? [] : [part])} aria-current={part === current ? 'page' : undefined}>
      {title}
    </a>
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
