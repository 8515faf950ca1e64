export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The fields of a log line, besides its message. Errors include their causes; secrets are redacted. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface LogRecord {
  time: number;
  level: Exclude<LogLevel, 'silent'>;
  message: string;
  fields: LogFields;
}
