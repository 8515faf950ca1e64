import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './source-tree.ts';

export interface Fence {
  /** Its position: `README.md:12`. */
  at: string;
  language: string;
  /** The words after the language on the opening line: `test`, `cluster`. */
  marks: string[];
  text: string;
}

export interface MarkdownFile {
  path: string;
  text: string;
  fences: Fence[];
}

const FENCE = /^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm;

/** Every Markdown file of the repository. */
export function readMarkdown(): MarkdownFile[] {
  const top = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  const docs = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  return [...top, ...docs.map((name) => `docs/${name.split(path.sep).join('/')}`)].sort().map((name) => {
    const text = readFileSync(path.join(ROOT, name), 'utf8');
    return { path: name, text, fences: fencesOf(name, text) };
  });
}

function fencesOf(name: string, text: string): Fence[] {
  return [...text.matchAll(FENCE)].map((match) => ({
    at: `${name}:${text.slice(0, match.index).split('\n').length}`,
    language: match[1] as string,
    marks: (match[2] as string).trim().split(/\s+/).filter(Boolean),
    text: match[3] as string,
  }));
}

export interface Step {
  command: string;
  /** Its expected output, with `…` as a wildcard. */
  output: string;
}

/** The commands of a console example: lines after `$ `, each with its expected output. */
export function consoleSteps(text: string): Step[] {
  const steps: Step[] = [];
  for (const line of text.split('\n').slice(0, -1)) {
    if (line.startsWith('$ ')) steps.push({ command: line.slice(2), output: '' });
    else {
      const step = steps.at(-1);
      if (!step) throw new Error(`a console example begins with a command, not with ${JSON.stringify(line)}`);
      step.output += `${line}\n`;
    }
  }
  return steps;
}

/** A pattern for the expected output of a command. A line `…` matches any number of lines. */
export function outputPattern(output: string): RegExp {
  const literally = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const lines = output.split('\n').map((line) => (line === '…' ? '[\\s\\S]*?' : line.split('…').map(literally).join('[^\\n]*')));
  return new RegExp(`^${lines.join('\n')}$`);
}
