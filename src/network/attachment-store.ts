import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Logger, pushAll } from '#base';
import type { AttachmentKey, PortMapping } from './cni/cni-request.ts';

/** A pod's interface, as stored on disk. */
export interface Attachment extends AttachmentKey {
  readonly netns: string;
  /** The host end of the veth pair. */
  readonly hostInterface: string;
  /** At most one per family. */
  readonly addresses: readonly string[];
  readonly podNamespace: string;
  readonly podName: string;
  readonly podUid: string;
  readonly portMappings: readonly PortMapping[];
}

export function attachmentId({ containerId, ifName }: AttachmentKey): string {
  return `${containerId}.${ifName}`;
}

const EXTENSION = '.json';

/**
 * One file per attachment, replaced atomically. Not synced to disk: no pod survives a power cut, and a killed agent
 * loses nothing.
 */
export class AttachmentStore {
  constructor(
    private readonly directory: string,
    private readonly logger: Logger,
  ) {}

  async load(): Promise<readonly Attachment[]> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const attachments: Attachment[] = [];
    for (const name of await readdir(this.directory)) {
      const file = path.join(this.directory, name);
      if (!name.endsWith(EXTENSION)) await rm(file, { force: true });
      else pushAll(attachments, await this.#read(file));
    }
    return attachments;
  }

  async #read(file: string): Promise<readonly Attachment[]> {
    const text = await readFile(file, 'utf8');
    try {
      const attachment = JSON.parse(text) as Attachment;
      if (Array.isArray(attachment.addresses) && file === this.#file(attachment)) return [attachment];
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    this.logger.error('an attachment is unreadable and was removed: the machine lost power while it was written', { file });
    await rm(file);
    return [];
  }

  async write(attachment: Attachment): Promise<void> {
    const file = this.#file(attachment);
    await writeFile(`${file}.tmp`, JSON.stringify(attachment), { mode: 0o600 });
    await rename(`${file}.tmp`, file);
  }

  async remove(key: AttachmentKey): Promise<void> {
    await rm(this.#file(key), { force: true });
  }

  #file(key: AttachmentKey): string {
    return path.join(this.directory, `${encodeURIComponent(attachmentId(key))}${EXTENSION}`);
  }
}
