/**
 * The types that the build gives a user who has every strict flag set: above all, every optional property takes undefined
 * (exactOptionalPropertyTypes). `npm run test:package` does the same with the package, beside Express 4 and 5.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/processes'

const compilerOptions = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: false,
  isolatedModules: true,
  target: 'es2022',
  module: 'nodenext',
  types: ['node'],
  typeRoots: [join(ROOT, 'node_modules/@types')],
  paths: { recentn: [join(ROOT, 'dist/src/index.d.ts')], 'recentn/client': [join(ROOT, 'dist/src/client/index.d.ts')] },
}

test('compile with every strict flag, and take undefined for what is optional', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'recentn-types-'))
  const project = join(folder, 'tsconfig.json')
  writeFileSync(project, JSON.stringify({ compilerOptions, files: [join(ROOT, 'test/package/types/strict.ts')] }))
  try {
    expect(await output(join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', project)).toBe('')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

function output(...args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT }, (_error, stdout, stderr) => resolve(stdout + stderr))
  })
}
