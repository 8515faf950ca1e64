/** CRI messages about images (api.proto). */
import { embedded, field, message, optional, repeated, stringMap, wrapped } from '#base';
import { SandboxConfig } from './sandbox.ts';
import { nanosAsMs } from './time-fields.ts';

export const ImageSpec = message({
  image: field(1, 'string'),
  annotations: stringMap(2),
  userSpecifiedImage: optional(18, 'string'),
  runtimeHandler: optional(19, 'string'),
  imageRef: optional(20, 'string'),
});

const Image = message({
  id: field(1, 'string'),
  repoTags: repeated(2, 'string'),
  repoDigests: repeated(3, 'string'),
  sizeBytes: field(4, 'uint64'),
  uid: wrapped(5, 'int64'),
  username: optional(6, 'string'),
  spec: field(7, ImageSpec),
  pinned: field(8, 'bool'),
});

const ImageFilter = message({ image: field(1, ImageSpec) });

export const ListImagesRequest = message({ filter: field(1, ImageFilter) });
export const ListImagesResponse = message({ images: repeated(1, Image) });
export const ImageSpecRequest = message({ image: field(1, ImageSpec) });
export const ImageStatusResponse = message({ image: field(1, Image) });

const AuthConfig = message({
  username: field(1, 'string'),
  password: field(2, 'string'),
  auth: field(3, 'string'),
  serverAddress: field(4, 'string'),
  identityToken: field(5, 'string'),
  registryToken: field(6, 'string'),
});

export const PullImageRequest = message({ image: field(1, ImageSpec), auth: field(2, AuthConfig), sandboxConfig: field(3, SandboxConfig) });
export const PullImageResponse = message({ imageRef: field(1, 'string') });

/** Flattened: the file system and its usage. */
export const FilesystemUsage = message({
  timestampMs: nanosAsMs(1),
  filesystem: embedded(2, message({ mountpoint: field(1, 'string') })),
  usedBytes: wrapped(3, 'uint64'),
  inodesUsed: wrapped(4, 'uint64'),
});

export const ImageFsInfoResponse = message({
  imageFilesystems: repeated(1, FilesystemUsage),
  containerFilesystems: repeated(2, FilesystemUsage),
});
