/** What commands answer, as typed values. */

/** How far a command is, for a progress callback. */
export interface Progress {
  /**
   * `copying`, `backing up`, `restoring`, `comparing`, `verifying`, `checking integrity`, `sealing`, `finishing` or
   * `checking`; `waiting` while others use the database.
   */
  readonly phase: string;
  /** The size of the work, such as `'1.2 GiB'`, if the phase has one. */
  readonly total: string | null;
  /** How much of it is done, once the command says so. */
  readonly percent: number | null;
  /** The line as the command printed it. */
  readonly text: string;
}

/** Who can open a database. */
export interface KeySlot {
  /** The key slot's id, for `selenite keys remove`. */
  readonly id: string;
  /** An age recipient, or the kind of identity. */
  readonly who: string;
  /** The text given to `selenite keys add`. */
  readonly label: string;
  readonly created: Date;
}

/** The key slots of a database. */
export interface KeyList {
  readonly databaseId: string;
  readonly slots: readonly KeySlot[];
  readonly origin: 'own' | 'foreign' | null;
  readonly commitment: string | null;
}

/** A data key. `sealing`: new pages are encrypted with it. */
export interface Epoch {
  readonly epoch: number;
  readonly suite: string;
  readonly created: Date;
  readonly sealing: boolean;
}

/** The keys and the state of an encrypted database. */
export interface Superblock {
  /** Whether the superblock was verified with the key. */
  readonly authentic: boolean | null;
  /** The id of the key slot that the identity opened. */
  readonly openedBy: string | null;
  readonly pinned: boolean | null;
  /** `own` or `foreign`, if the identity opens the database. */
  readonly origin: 'own' | 'foreign' | null;
  /** The commitment of the master key, for `options: { commitment }`. */
  readonly commitment: string | null;
  /** The cipher suite. */
  readonly suite: string;
  /** `steady`, or what a re-encryption is doing. */
  readonly state: string;
  /** The progress of a re-encryption. */
  readonly percent: number | null;
  readonly pageSize: number;
  readonly pageCount: number;
  readonly databaseId: string;
  readonly generation: number;
  readonly masterKeyCreated: Date;
  readonly epochs: readonly Epoch[];
  readonly slots: readonly KeySlot[];
  /** `ok` or `damaged`, for each of the two copies `a` and `b`. */
  readonly copies: Readonly<Record<string, string>>;
}

/** The last successful verification on this machine. */
export interface LastVerification {
  readonly time: Date;
  readonly ageSeconds: number | null;
  readonly kind: string;
  readonly pageCount: number;
  readonly beforeReencryption: boolean;
}

/** Something to do. `code` is stable. */
export interface StatusWarning {
  readonly code: string;
  readonly text: string;
  readonly file: string | null;
}

/** What `status` answers. `superblock` is `null` of an unencrypted database. */
export interface Status {
  readonly path: string;
  readonly encrypted: boolean;
  readonly superblock: Superblock | null;
  readonly size: number;
  readonly lastVerification: LastVerification | null;
  readonly warnings: readonly StatusWarning[];
}

/** A page that is not authentic, or older than the anchor. */
export interface BadPage {
  /** `database`, `wal` or `journal`. */
  readonly file: string;
  /** The number of the page, if it is known. */
  readonly page: number | null;
  /** The number of the frame or record in a log. */
  readonly index: number | null;
  /** What is wrong with it. */
  readonly why: string;
  /** `table`, `index` or another use, if it is known. */
  readonly ownerKind: string | null;
  /** The name of the table or index, if it is known. */
  readonly owner: string | null;
}

/** What `verify` found. */
export interface Verification {
  readonly path: string;
  /** Whether every page is authentic. */
  readonly authentic: boolean;
  readonly origin: 'own' | 'foreign' | null;
  readonly pageCount: number;
  readonly size: number;
  /** How many places are bad; `bad` lists the first of them. */
  readonly badCount: number;
  readonly bad: readonly BadPage[];
  /** Pages that the log or journal is about to rewrite, which is no fault. */
  readonly pending: readonly number[];
  /** The faults that SQLite found; empty if there are none, `null` if it was not asked. */
  readonly integrityCheck: readonly string[] | null;
  /** The comparison with an anchor. */
  readonly anchor: 'same' | 'changed' | 'older' | null;
  readonly seconds: number;
  /** Everything that the command printed. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** A backup that was made. */
export interface Backup {
  /** The name of the backup, for `restore`. */
  readonly name: string;
  /** The backup that this one depends on, if it is incremental. */
  readonly base: string | null;
  /** Whether an interrupted backup was continued. */
  readonly resumed: boolean;
  readonly pageSize: number;
  readonly pages: number;
  readonly pagesSent: number;
  readonly pagesUnchanged: number;
  /** Pages that were not authentic, and are left out (`skipBad`). */
  readonly pagesMissing: readonly number[];
  /** The digest of all rows, if it was asked for. */
  readonly digest: string | null;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly seconds: number;
}

/** A database that was restored from a backup. */
export interface Restore {
  readonly path: string;
  readonly backup: string;
  readonly origin: 'own' | 'foreign' | null;
  readonly suite: string;
  readonly pageSize: number;
  readonly pages: number;
  readonly pagesMissing: readonly number[];
  readonly size: number;
  readonly slots: readonly string[];
  readonly seconds: number;
}

/** A database that was encrypted or decrypted. */
export interface Conversion {
  /** The new file; of a conversion in place, the database. */
  readonly path: string;
  /** The cipher suite, of an encryption. */
  readonly suite: string | null;
  /** How many tables were copied and compared. */
  readonly tables: number;
  /** How many rows. */
  readonly rows: number;
  /** Who can open it, of an encryption. */
  readonly slots: readonly string[];
  /** Files that were removed: logs and journals of the old database. */
  readonly removed: readonly string[];
  /** Files that could not be removed, and may contain the old database. */
  readonly leftovers: readonly string[];
  /** Properties of the old file that the new one could not get. */
  readonly notKept: readonly string[];
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

export function keyList(json: Json): KeyList {
  const { databaseId, slots, origin, commitment } = camelCase(json);
  return { databaseId, slots, origin, commitment };
}

export function status(path: string, json: Json): Status {
  const { encrypted, files, lastVerify, superblock, warnings } = camelCase(json);
  const size = files.reduce((sum: number, file: { size: number }) => sum + file.size, 0);
  return { path, encrypted, superblock: superblock ? ofSuperblock(superblock) : null, size, lastVerification: lastVerify, warnings };
}

export function verification(path: string, json: Json): Verification {
  const { authentic, origin, pageCount, size, badCount, bad, pending, integrityCheck, anchor, ms } = camelCase(json);
  return {
    path,
    authentic,
    origin,
    pageCount,
    size,
    badCount: badCount + (anchor?.olderCount ?? 0),
    bad: [...bad, ...(anchor?.older ?? [])].map(badPage),
    pending,
    integrityCheck,
    anchor: anchor?.verdict ?? null,
    seconds: ms / 1000,
    json,
  };
}

export function backup(json: Json): Backup {
  const { backup: name, base, resumed, pageSize, pages, digest, seconds, ...rest } = camelCase(json);
  const { pagesSent, pagesUnchanged, pagesMissing, bytesSent, bytesReceived } = rest;
  return { name, base, resumed, pageSize, pages, pagesSent, pagesUnchanged, pagesMissing, digest, bytesSent, bytesReceived, seconds };
}

export function restore(path: string, json: Json): Restore {
  const { backup, origin, suite, pageSize, pages, pagesMissing, size, slots, seconds } = camelCase(json);
  return { path, backup, origin, suite, pageSize, pages, pagesMissing, size, slots, seconds };
}

export function conversion(path: string, json: Json): Conversion {
  const { suite, tables, rows, slots, removed, leftOver: leftovers, notKept } = camelCase(json);
  return { path, suite, tables, rows, slots, removed, leftovers, notKept };
}

function ofSuperblock({ superblocks: copies, cursor: _, ...rest }: Json): Superblock {
  return { ...rest, copies };
}

function badPage({ file, page, index, why, owner }: Json): BadPage {
  return { file, page, index, why, ownerKind: owner?.kind ?? null, owner: owner?.name ?? null };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const TIMES = ['created', 'masterKeyCreated', 'time'];

/** With names as JavaScript has them, and times as `Date`. */
function camelCase(json: Json): Json {
  if (Array.isArray(json)) {
    return json.map(camelCase);
  }
  if (typeof json !== 'object' || json === null) {
    return json;
  }
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => {
      const own = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const isTime = TIMES.includes(own) && typeof value === 'string' && TIME.test(value);
      return [own, isTime ? new Date(value) : camelCase(value)];
    }),
  );
}
