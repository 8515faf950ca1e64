import type { Command } from 'commander';
import { buildInfo } from '#base';
import type { CliContext } from '../context.ts';
import { readManifest } from '../manifest.ts';
import { addOutputOption, type OutputFormat, printData } from '../output-option.ts';

/** The compatible Kubernetes version. */
const KUBERNETES_VERSION = 'v1.36';

export function configureVersion(command: Command, context: CliContext): void {
  addOutputOption(command).action((options: { output: OutputFormat }) => {
    const { commit, treeState, date } = buildInfo();
    const data = {
      sampan: readManifest().version,
      kubernetes: KUBERNETES_VERSION,
      node: process.version,
      platform: `${process.platform}/${process.arch}`,
      commit: `${commit || 'unknown'}${treeState === 'dirty' ? '-dirty' : ''}`,
      date,
    };
    const text = (versions: typeof data) =>
      Object.entries(versions)
        .map(([name, version]) => `${name.padEnd(12)}${version}`)
        .join('\n');
    printData(context, { format: options.output, data, text });
  });
}
