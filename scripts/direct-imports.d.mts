export class DirectImports {
  rewrite(source: string): string;
}
