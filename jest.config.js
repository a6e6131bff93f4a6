/** What takes long: attacks, odd servers, upgrades, examples, races of processes, commands and servers in their own processes. */
const SLOW = '<rootDir>/test/(?:cli|engines|examples|hostile|races)/|<rootDir>/test/http/[a-z-]*process'
const suites = process.env.RECENTN_TEST_SUITES

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: '<rootDir>/test/support/environment.cjs',
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/examples/*.test.ts'],
  testPathIgnorePatterns: [
    '<rootDir>/test/(adapters|faults)/',
    ...(suites === 'quick' ? [SLOW] : []),
    ...(suites === 'slow' ? [`^(?!${SLOW})`] : []),
  ],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        module: { type: 'commonjs' },
        jsc: {
          target: 'es2022',
          keepClassNames: true,
          parser: { syntax: 'typescript', decorators: true },
          // As in tsconfig.json: TypeORM and class-validator read what these leave behind.
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
        },
      },
    ],
  },
  // A global of a test's sandbox takes a hundred times as long to look up as a parameter. Not among them: the clocks and timers
  // that Jest's fake ones replace.
  sandboxInjectedGlobals: [
    ...['Array', 'ArrayBuffer', 'BigInt', 'Boolean', 'Buffer', 'Error', 'JSON', 'Map', 'Math', 'Number'],
    ...['Object', 'Promise', 'Proxy', 'RangeError', 'Reflect', 'RegExp', 'Set', 'String', 'Symbol', 'TypeError', 'URL'],
    ...['Uint8Array', 'WeakMap', 'WeakSet', 'isNaN', 'parseInt', 'process'],
  ],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  setupFiles: ['reflect-metadata'],
  // The examples import what a user imports.
  moduleNameMapper: {
    '^recentn$': '<rootDir>/src/index.ts',
    '^recentn/(adapters|client|testing|typeorm)$': '<rootDir>/src/$1/index.ts',
  },
  modulePathIgnorePatterns: ['<rootDir>/.cache/'],
  testSequencer: '<rootDir>/test/support/sequencer.cjs',
  // More than the cores that are about: most of it waits, for servers and for time to pass. What takes long starts processes itself.
  maxWorkers: suites === 'slow' ? 3 : 6,
  // For what hangs. What a test promises about time, it measures itself: a busy machine must fail none of them.
  testTimeout: 120_000,
}
