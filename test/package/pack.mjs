/** The tarball that would be published: that it has what is needed, and nothing else. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { run, say } from './steps.mjs'

/**
 * recentn's own code, the client and the dashboard take 0.5 MB, the reference page as much again, docs/ and examples/ 0.4.
 * The tests, or the maps of a bundle, would go beyond.
 */
const MAX_KILOBYTES = 1600

const ALLOWED = [
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md)$/,
  // The targets of the README's links, and their targets.
  /^docs\/.+\.(md|png|svg)$/,
  /^examples\/(\w+\/)?(src\/|test\/)?[\w-]+(\.\w+)*\.(ts|json|md|py)$/,
  /^bench\/results\/[\w-]+\.(svg|md)$/,
  /^dist\/(src|migrations)\/.+\.(js|d\.ts)$/,
  // Pages that the server serves, some of them compressed beforehand.
  /^dist\/(?!src|migrations)[\w-]+\/.+\.(js|css|html|svg|png|txt)(\.gz)?$/,
]
const REFUSED = [
  /\.map$/,
  /^(?!examples\/).*\.test\./,
  /^(?!examples\/)(.*\/)?test\//,
  /(^|\/)(node_modules|__pycache__)\//,
  /^bench\/(?!results\/)/,
]

/** Runs `npm pack` as a publisher would, building included; the path of the tarball. */
export async function pack(root, folder) {
  await run('npm', ['pack', '--pack-destination', folder, '--loglevel=warn'], { cwd: root, seconds: 120 })
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.tgz'))
  return join(folder, name)
}

/** A sentence about the tarball; throws when it is not as it should be. */
export async function checkTarball(root, tarball) {
  const listed = await run('tar', ['-tzf', tarball])
  const files = listed
    .trim()
    .split('\n')
    .map((line) => line.replace(/^package\//, ''))
  const strange = files.filter(
    (file) => !ALLOWED.some((one) => one.test(file)) || REFUSED.some((one) => one.test(file)),
  )
  assert.deepEqual(strange, [], 'files that have no place in the package')

  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const named = [manifest.main, manifest.types, ...Object.values(manifest.bin), ...exported(manifest.exports)]
  const missing = ['README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', ...named.map(plain)].filter(
    (file) => !files.includes(file),
  )
  assert.deepEqual(missing, [], 'files that package.json names and the package has not')
  const untyped = files.filter((file) => /^dist\/(src|migrations)\/[\w/-]+\.js$/.test(file) && isCompiled(root, file))
  const typeless = untyped.filter((file) => !files.includes(file.replace(/\.js$/, '.d.ts')))
  assert.deepEqual(typeless, [], 'modules without types')

  const pinned = Object.entries({
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  })
  const exact = pinned.filter(([, range]) => /^\d/.test(range)).map(([name]) => name)
  assert.deepEqual(
    exact,
    [],
    'dependencies that users can neither share nor fix: the lockfile pins, package.json does not',
  )

  assert.deepEqual(await deadLinks(tarball, files), [], 'links to what is not in the package')
  if (!manifest.repository) say('package.json names no repository: on npm the links of the README would lead nowhere')

  const kilobytes = Math.ceil(statSync(tarball).size / 1000)
  assert.ok(kilobytes <= MAX_KILOBYTES, `${kilobytes} kB are more than ${MAX_KILOBYTES}`)
  return `${files.length} files, ${kilobytes} kB (at most ${MAX_KILOBYTES})`
}

/** Of its pages, the relative links that lead to nothing in it. */
async function deadLinks(tarball, files) {
  const folders = new Set(files.flatMap((file) => parents(file)))
  const dead = []
  for (const page of files.filter((file) => file.endsWith('.md'))) {
    const text = await run('tar', ['-xzOf', tarball, `package/${page}`])
    const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')
    for (const [, target] of prose.matchAll(/\]\((?![a-z]+:|#)([^()\s#]+)/g)) {
      const found = posix.join(posix.dirname(page), target).replace(/\/$/, '')
      if (!files.includes(found) && !folders.has(found)) dead.push(`${page}: ${target}`)
    }
  }
  return dead
}

function parents(file) {
  const parts = file.split('/').slice(0, -1)
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'))
}

function plain(path) {
  return path.replace(/^\.\//, '')
}

/** The files behind `exports`. */
function exported(exports) {
  return Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.values(entry)))
}

/** From one of our sources, and no page's script that was bundled into dist. */
function isCompiled(root, file) {
  return existsSync(join(root, file.replace(/^dist\//, '').replace(/\.js$/, '.ts')))
}
