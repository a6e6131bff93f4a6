/** The frame of every page: navigation, the key, and the focus, which moves to the heading of the page that is opened. */
import './styles/all.css'
import { render, type VNode } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { link, PARTS, type PageAddress, type PageQuery, usePageAddress } from './address'
import { EntryPage } from './feed-changes'
import { FeedPage, FeedsPage } from './feed-page'
import { GroupPage } from './group-page'
import { GroupsPage } from './groups-page'
import { KeyPage } from './key-page'
import { WithAccess } from './may'
import { MemberPage } from './member-page'
import { MessagePage } from './message-page'
import { OverviewPage } from './overview-page'
import { PageHead } from './parts'
import { PoliciesPage, PolicyPage } from './policy-page'
import { OutageBar } from './polled'
import { QueuePage } from './queue-page'
import { QueuesPage } from './queues-page'
import { SchedulePage, SchedulesPage } from './schedule-page'
import { hasKeys, keyName, useKey } from './session'
import { Toasts } from './toast'

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
      <PageHead title="Nothing is here" />
      <p>
        There is no such page. <a href={link([])}>To the overview</a>
      </p>
    </>
  )
}

function App() {
  const address = usePageAddress()
  const key = useKey()
  const main = useRef<HTMLElement>(null)
  const path = link(address.parts)
  useHeadingFocus(main, `${key} ${path}`)
  useScroll(address)
  const [first = 'overview'] = address.parts
  const current = first === 'members' ? 'groups' : first
  // Not a link: the hash is the address of the page, and #main would leave it.
  const skip = () => main.current?.querySelector('h1')?.focus()
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <header>
        <a class="brand" href={link([])}>
          <img src="dashboard/icon.svg" alt="" width="20" height="20" />
          recentn
        </a>
        <nav aria-label="Main">
          {Object.entries({ overview: { title: 'Overview' }, ...PARTS }).map(([part, { title }]) => (
            <a key={part} href={link(part === 'overview' ? [] : [part])} {...currentIf(part === current)}>
              {title}
            </a>
          ))}
        </nav>
        {hasKeys && (
          <a class="key" href={link(['key'])} {...currentIf(current === 'key')}>
            {key === null ? 'No key' : keyName(key)}
          </a>
        )}
      </header>
      <main ref={main} id="main">
        {/* With another key, which may see less, nothing stays of what was read. */}
        <WithAccess key={key}>
          <Page key={path} address={address} />
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

const currentIf = (is: boolean) => ({ 'aria-current': is ? ('page' as const) : undefined })

/** Screen readers learn from the focus and the title that the page has changed, before another key comes; not for the first page. */
function useHeadingFocus(main: { current: HTMLElement | null }, place: string): void {
  const isFirst = useRef(true)
  useLayoutEffect(() => {
    const heading = main.current?.querySelector('h1')
    document.title = `${heading?.textContent} · recentn`
    if (!isFirst.current) heading?.focus({ preventScroll: true })
    isFirst.current = false
  }, [place])
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

render(<App />, document.getElementById('app') as HTMLElement)
