export type Labels<L extends string> = Readonly<Record<L, string | number>>;

/** One line of a family, without its labels. */
export interface Sample {
  suffix?: '_bucket' | '_sum' | '_count';
  /** The upper bound of a histogram's bucket. */
  le?: number;
  value: number;
}

interface Head {
  name: string;
  help: string;
  type: string;
}

/** `verb="GET",code="200"`: both the text of the labels and the key of their series. */
export function labelText<L extends string>(names: readonly L[], labels: Labels<L>): string {
  let text = '';
  for (const name of names) {
    const value = labels[name];
    if (value === undefined) throw new TypeError(`label ${name} has no value`);
    text += `${text ? ',' : ''}${name}="${escapeLabel(String(value))}"`;
  }
  return text;
}

/** A family in Prometheus's text format; empty when it has no series. */
export function renderFamily(head: Head, samples: readonly (Sample & { labels: string })[]): string {
  if (samples.length === 0) return '';
  const lines = samples.map((sample) => renderSample(head.name, sample));
  return `# HELP ${head.name} ${escapeHelp(head.help)}\n# TYPE ${head.name} ${head.type}\n${lines.join('')}`;
}

function renderSample(name: string, { suffix, le, labels, value }: Sample & { labels: string }): string {
  const bound = le === undefined ? '' : `${labels ? ',' : ''}le="${formatNumber(le)}"`;
  const all = labels + bound;
  return `${name}${suffix ?? ''}${all ? `{${all}}` : ''} ${formatNumber(value)}\n`;
}

function formatNumber(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  return String(value);
}

function escapeLabel(text: string): string {
  return /[\\"\n]/.test(text) ? text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : text;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
