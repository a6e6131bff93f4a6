/**
 * `node scripts/client-package.mjs <folder>`: the package `@recentn/client`, for the build. It is made of the sources of
 * `recentn/client`, as ES modules and as CommonJS, and takes its version and the ranges of its dependencies from package.json.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const folder = resolve(process.argv[2])
const recentn = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** Node takes a module below `esm` for an ES module and one below `cjs` for CommonJS by the `package.json` above it. */
const FORMS = {
  esm: ['--module', 'esnext', '--moduleResolution', 'bundler'],
  cjs: ['--module', 'node16', '--moduleResolution', 'node16'],
}

mkdirSync(folder, { recursive: true })
for (const [form, how] of Object.entries(FORMS)) compile(form, how)
addExtensions(join(folder, 'esm'))
writeJson('package.json', manifest())
writeJson('cjs/package.json', { type: 'commonjs', sideEffects: false })
copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
copyFileSync(join(ROOT, 'src', 'client', 'README.md'), join(folder, 'README.md'))

function compile(form, how) {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  const project = ['-p', join(ROOT, 'src', 'client'), '--rootDir', join(ROOT, 'src'), '--outDir', join(folder, form)]
  execFileSync(process.execPath, [tsc, ...project, ...how, '--noEmit', 'false', '--noEmitOnError'], {
    stdio: 'inherit',
  })
}

/** In an ES module Node wants the whole name of a file, and TypeScript writes a name as the source has it. */
function addExtensions(esm) {
  for (const name of readdirSync(esm, { recursive: true })) {
    if (!/\.(js|ts)$/.test(name)) continue
    const text = readFileSync(join(esm, name), 'utf8')
    writeFileSync(join(esm, name), text.replaceAll(/(\bfrom |\bimport\()(['"])(\.{1,2}\/[^'"]+)\2/g, '$1$2$3.js$2'))
  }
}

function manifest() {
  const { version, license, engines, repository } = recentn
  return {
    name: '@recentn/client',
    version,
    description: 'The client of a recentn server, for browsers, Node and other runtimes that have fetch',
    keywords: ['recentn', 'recent items', 'work queue', 'change feed', 'client'],
    license,
    repository,
    type: 'module',
    sideEffects: false,
    // For resolutions that do not know `exports`.
    main: './cjs/client/index.js',
    types: './cjs/client/index.d.ts',
    typesVersions: { '*': { calls: ['./cjs/client/calls.d.ts'] } },
    exports: { '.': entry('index'), './calls': entry('calls'), './package.json': './package.json' },
    engines,
    publishConfig: { access: 'public' },
  }
}

function entry(name) {
  const file = (form) => ({ types: `./${form}/client/${name}.d.ts`, default: `./${form}/client/${name}.js` })
  return { require: file('cjs'), default: file('esm') }
}

function writeJson(name, value) {
  writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`)
}
