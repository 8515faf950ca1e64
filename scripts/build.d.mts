import type { BuildOptions } from 'esbuild';

export const BUNDLE_OPTIONS: BuildOptions;
export const SERVER_MINIFICATION: Pick<BuildOptions, 'minifySyntax' | 'minifyWhitespace'>;
export function ensureBuilt(): Promise<void>;
export function buildBundles(): Promise<void>;
export function buildTypes(): void;
