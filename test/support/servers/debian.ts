/**
 * A private copy of a program out of the distribution's own packages (Debian, Ubuntu), unpacked into `.cache/` of
 * the project. No root, nothing installed. Apt is pointed at package lists and a cache of our own, so that the
 * system's stay as they are, and its hooks, which may write elsewhere, are turned off.
 */
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from './find-program'
import { messageOf } from './server'

const run = promisify(execFile)
const CACHE = resolve(__dirname, '../../../.cache')
const LISTS_ARE_FRESH_MS = 24 * 3600 * 1000

/** The packages to unpack; the libraries that these need and the machine lacks come by themselves. */
export interface Wanted {
  /** Names the folder in `.cache/`, and the messages. */
  label: string
  /** The package with the program; of several with a version behind the name, or in place of a `*` in it, the newest. */
  main: string
  /** Other packages with files that it needs: with the same version in the name, where there is one like that or a `*`. */
  others: string[]
}

export interface PrivateCopy {
  /** The folder that is used as `/`. */
  root: string
  /** In words. */
  origin: string
  /** For its programs to find its libraries. */
  env: NodeJS.ProcessEnv
}

/** Throws, with the reason in a sentence, where there is no such package or no way to fetch it. */
export async function privateCopy(wanted: Wanted): Promise<PrivateCopy> {
  for (const program of ['apt-get', 'apt-cache', 'dpkg', 'dpkg-query']) {
    if (findProgram(program) === null) throw new Error(`this is not Debian or Ubuntu: there is no ${program}`)
  }
  const root = join(CACHE, `${wanted.label}-${systemName()}`)
  if (!existsSync(root)) await unpack(wanted, root)
  const libraries = [...libraryFolders(root), process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter)
  return {
    root,
    origin: `the distribution's packages, unpacked into ${root}`,
    env: { ...process.env, LD_LIBRARY_PATH: libraries },
  }
}

function libraryFolders(root: string): string[] {
  return ['usr/lib', 'lib'].flatMap((folder) => {
    const path = join(root, folder)
    if (!existsSync(path)) return []
    const architectures = readdirSync(path).filter((name) => name.includes('-linux-'))
    return [...architectures.map((name) => join(path, name)), path]
  })
}

async function unpack(wanted: Wanted, root: string): Promise<void> {
  const config = await freshLists()
  const names = await packageNames(config, wanted)
  process.stderr.write(`${wanted.label}: fetching ${names.join(', ')} for a private copy in ${root}\n`)
  const work = mkdtempSync(join(CACHE, 'unpack-'))
  try {
    await run('apt-get', ['-c', config, 'download', ...names], { cwd: work })
    const tree = join(work, 'root')
    for (const file of readdirSync(work)) await run('dpkg', ['-x', join(work, file), tree])
    moveInto(tree, root)
  } catch (error) {
    throw new Error(`its packages could not be fetched: ${messageOf(error).trim().split('\n').slice(-2).join(' ')}`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Another test run may have been faster; one complete copy is as good as the other. */
function moveInto(tree: string, target: string): void {
  try {
    renameSync(tree, target)
  } catch (error) {
    if (!existsSync(target)) throw error
  }
}

/** The packages to unpack: those asked for, and every library they need that the machine does not have. */
async function packageNames(config: string, { main, others }: Wanted): Promise<string[]> {
  const [before = '', after] = main.split('*')
  const { stdout } = await run('apt-cache', ['-c', config, 'pkgnames', before])
  const form = new RegExp(after === undefined ? `^${before}(-[\\d.]+)?$` : `^${before}([\\d.]+)${after}$`)
  const candidates = stdout.split('\n').filter((name) => form.test(name))
  // A name that only other packages mention has no text; the newest version sorts last.
  candidates.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  for (const name of candidates.reverse()) {
    if (!(await exists(config, name))) continue
    const version = form.exec(name)?.[1] ?? ''
    const needed = [name]
    for (const other of others) {
      const versioned = other.includes('*') ? other.replace('*', version) : other + version
      needed.push((await exists(config, versioned)) ? versioned : other)
    }
    return [...needed, ...(await missingLibraries(config, needed))]
  }
  throw new Error(`${systemName()} has no package ${main}${complaintIn(config)}`)
}

async function exists(config: string, name: string): Promise<boolean> {
  const shown = run('apt-cache', ['-c', config, 'show', '--no-all-versions', name])
  return shown.then(
    ({ stdout }) => /^Filename:/m.test(stdout),
    () => false,
  )
}

async function missingLibraries(config: string, needing: string[]): Promise<string[]> {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query fills these in
  const { stdout } = await run('dpkg-query', ['-W', '-f', '${db:Status-Status} ${Package}\n'])
  const known = new Set(stdout.split('\n').flatMap((line) => line.match(/^installed (.+)$/)?.[1] ?? []))
  const missing: string[] = []
  let round = needing
  while (round.length > 0) {
    const depends = await run('apt-cache', ['-c', config, 'depends', ...round])
    round = [...depends.stdout.matchAll(/^\s*\|?(?:Pre)?Depends: (lib[^\s:]+)/gm)].flatMap((match) => match[1] ?? [])
    round = [...new Set(round)].filter((name) => !known.has(name))
    for (const name of round) known.add(name)
    missing.push(...round)
  }
  return missing
}

let lists: Promise<string> | undefined

/** Package lists of our own, a day old at most; gives the path of the apt configuration that uses them. */
function freshLists(): Promise<string> {
  lists ??= fetchLists()
  return lists
}

async function fetchLists(): Promise<string> {
  const folder = join(CACHE, 'apt')
  const config = join(folder, 'apt.conf')
  if (existsSync(config) && Date.now() - statSync(config).mtimeMs < LISTS_ARE_FRESH_MS) return config
  mkdirSync(CACHE, { recursive: true })
  const work = mkdtempSync(join(CACHE, 'apt-'))
  try {
    process.stderr.write('fetching the package lists of the distribution into .cache/ …\n')
    mkdirSync(join(work, 'lists/partial'), { recursive: true })
    mkdirSync(join(work, 'cache/archives/partial'), { recursive: true })
    writeFileSync(join(work, 'apt.conf'), aptConfig(work))
    const { stderr } = await run('apt-get', ['-c', join(work, 'apt.conf'), '-q', 'update'])
    writeFileSync(join(work, 'complaints'), stderr)
    writeFileSync(join(work, 'apt.conf'), aptConfig(folder))
    rmSync(folder, { recursive: true, force: true })
    moveInto(work, folder)
    return config
  } catch (error) {
    throw new Error(`apt-get update failed: ${messageOf(error).trim().split('\n').slice(-2).join(' ')}`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function aptConfig(folder: string): string {
  return `
Dir::State::Lists "${folder}/lists";
Dir::Cache "${folder}/cache";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "1";
Acquire::http::Timeout "15";
Acquire::https::Timeout "15";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::CNF::DefaultEnabled "false";
Acquire::IndexTargets::deb-src::Sources::DefaultEnabled "false";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
`
}

function complaintIn(config: string): string {
  const text = readFileSync(join(config, '../complaints'), 'utf8').trim()
  return text === '' ? '' : ` (apt-get update said: ${text.split('\n').slice(-2).join(' ')})`
}

/** Such as debian-12-x64: what a private copy fits. */
function systemName(): string {
  const text = readFileSync('/etc/os-release', 'utf8')
  const value = (key: string) => new RegExp(`^${key}="?([^"\\n]*)`, 'm').exec(text)?.[1]
  return `${value('ID') ?? 'linux'}-${value('VERSION_ID') ?? 'rolling'}-${process.arch}`
}
