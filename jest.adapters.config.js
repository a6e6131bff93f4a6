/** Transactions of other libraries, on the packages of test/adapters: `npm run test:adapters`. @type {import('jest').Config} */
module.exports = {
  ...require('./jest.config.js'),
  testMatch: ['<rootDir>/test/adapters/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
}
