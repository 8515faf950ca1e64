import type { Field } from '#base';

const PLAIN = [
  ...['ABRT', 'ALRM', 'BUS', 'CHLD', 'CLD', 'CONT', 'FPE', 'HUP', 'ILL', 'INT', 'IO', 'IOT', 'KILL', 'PIPE', 'POLL', 'PROF', 'PWR'],
  ...['QUIT', 'SEGV', 'STKFLT', 'STOP', 'SYS', 'TERM', 'TRAP', 'TSTP', 'TTIN', 'TTOU', 'URG', 'USR1', 'USR2', 'VTALRM', 'WINCH'],
  ...['XCPU', 'XFSZ', 'RTMIN'],
];

/** CRI numbers signals alphabetically, unlike the kernel; 0 is the runtime's default. */
const NAMES: readonly string[] = [
  ...PLAIN.map((name) => `SIG${name}`),
  ...Array.from({ length: 15 }, (_, i) => `SIGRTMIN+${i + 1}`),
  ...Array.from({ length: 14 }, (_, i) => `SIGRTMAX-${14 - i}`),
  'SIGRTMAX',
];
const NUMBERS: ReadonlyMap<string, number> = new Map(NAMES.map((name, index) => [name, index + 1]));

/** A signal by its name, as the field `stop_signal`. */
export function signal(number: number): Field<string | undefined, string> {
  return {
    number,
    write(writer, name) {
      const value = NUMBERS.get(name);
      if (value === undefined) throw new TypeError(`${JSON.stringify(name)} is no signal`);
      writer.number(number, value);
    },
    read: (reader) => NAMES[reader.number() - 1],
    absent: () => undefined,
  };
}
