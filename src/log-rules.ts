/** How the process may write its log. */

export const LOG_FORMATS = ['text', 'json'] as const
/** Least important first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]
export type LogLevel = (typeof LOG_LEVELS)[number]
