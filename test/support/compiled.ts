/** The compiler's errors about a few files. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './processes'

/** Those of a user of the build, with every flag that is strict. */
export const USER_OPTIONS = {
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: false,
  isolatedModules: true,
  module: 'nodenext',
  types: ['node'],
  typeRoots: [join(ROOT, 'node_modules/@types')],
  paths: { recentn: [join(ROOT, 'dist/src/index.d.ts')], 'recentn/client': [join(ROOT, 'dist/src/client/index.d.ts')] },
}

/** The errors; '' if there are none. `texts` are files beside the project, by their names. */
export async function compilerErrors(
  compilerOptions: object,
  files: readonly string[],
  texts: Record<string, string> = {},
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'recentn-types-'))
  const project = join(folder, 'tsconfig.json')
  try {
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text)
    const options = { noEmit: true, strict: true, target: 'es2022', ...compilerOptions }
    writeFileSync(project, JSON.stringify({ compilerOptions: options, files }))
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    return await new Promise((resolve) => {
      execFile(process.execPath, [tsc, '-p', project], { cwd: ROOT }, (_, stdout, stderr) => resolve(stdout + stderr))
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
