export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a line is about, besides its message. Errors are written with their causes; secrets are not written at all. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface LogRecord {
  time: number;
  level: Exclude<LogLevel, 'silent'>;
  message: string;
  fields: LogFields;
}
