// tedious: answers requests on stdin, one line of JSON each, as ../python/serve.py says.
import { readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Connection, Request, TYPES } from 'tedious';

const STDOUT = 1;
const connections = new Map();
const ENCRYPT = { off: false, on: true, verified: true, strict: 'strict' };
const KINDS = {
  bit: TYPES.Bit, tinyint: TYPES.TinyInt, smallint: TYPES.SmallInt, int: TYPES.Int, bigint: TYPES.BigInt,
  decimal: TYPES.Decimal, numeric: TYPES.Numeric, money: TYPES.Money, smallmoney: TYPES.SmallMoney,
  float: TYPES.Float, real: TYPES.Real, char: TYPES.Char, varchar: TYPES.VarChar, nchar: TYPES.NChar,
  nvarchar: TYPES.NVarChar, binary: TYPES.Binary, varbinary: TYPES.VarBinary, date: TYPES.Date, time: TYPES.Time,
  datetime: TYPES.DateTime, smalldatetime: TYPES.SmallDateTime, datetime2: TYPES.DateTime2,
  datetimeoffset: TYPES.DateTimeOffset, uniqueidentifier: TYPES.UniqueIdentifier,
};

const actions = {
  connect({ name, port, user, password, encryption, certificate, database, packet_size }) {
    const checked = encryption === 'verified' || encryption === 'strict';
    const connection = new Connection({
      server: '127.0.0.1',
      authentication: { type: 'default', options: { userName: user, password } },
      options: {
        port,
        database: database ?? undefined,
        encrypt: ENCRYPT[encryption],
        trustServerCertificate: !checked,
        cryptoCredentialsDetails: checked ? { ca: readFileSync(certificate) } : {},
        // The certificate names it; an address is no name that TLS asks for.
        serverName: checked ? 'localhost' : undefined,
        packetSize: packet_size ?? 4096,
        connectTimeout: 20_000,
        requestTimeout: 0,
        cancelTimeout: 30_000,
        maxRetriesOnTransientErrors: 0,
      },
    });
    connections.set(name, connection);
    return new Promise((resolve, reject) => {
      connection.on('error', () => {});
      connection.connect((error) => (error ? reject(new Refused(error)) : resolve(null)));
    });
  },
  batch({ name, sql }) {
    return run(name, 'execSqlBatch', sql);
  },
  execute({ name, sql, parameters }) {
    return run(name, 'execSql', sql, (request) => add(request, parameters));
  },
  call({ name, sql, parameters, outputs }) {
    return run(name, 'callProcedure', sql, (request) => {
      for (const [key, kind, text] of parameters) {
        request.addParameter(key, ...typed(kind, text));
      }
      for (const [key, kind] of outputs) {
        request.addOutputParameter(key, ...typed(kind, null));
      }
    });
  },
  async prepare({ name, sql, kinds, rows }) {
    // sp_prepare, sp_execute for each row, sp_unprepare.
    const connection = connections.get(name);
    const reply = empty();
    const request = listen(connection, reply, sql);
    kinds.forEach((kind, i) => request.addParameter(`p${i + 1}`, ...typed(kind, null)));
    await step((done) => { request.once('prepared', done); connection.prepare(request); }, request);
    for (const row of rows) {
      const values = Object.fromEntries(row.map((text, i) => [`p${i + 1}`, typed(kinds[i], text)[1]]));
      await step((done) => { request.userCallback = done; connection.execute(request, values); });
    }
    await step((done) => { request.userCallback = done; connection.unprepare(request); });
    return reply;
  },
  bulk({ name, table, columns, rows }) {
    const connection = connections.get(name);
    const reply = empty();
    return new Promise((resolve) => {
      const load = connection.newBulkLoad(table, (failed, count) => {
        if (failed) {
          reply.errors.push(...(failed.errors ?? [failed]).map(notice));
        } else {
          reply.counts.push(count);
        }
        resolve(reply);
      });
      for (const [column, kind] of columns) {
        const [type, , options] = typed(kind, null);
        load.addColumn(column, type, { nullable: true, ...options });
      }
      connection.execBulkLoad(load, rows.map((row) => row.map((text, i) => typed(columns[i][1], text)[1])));
    });
  },
  table({ name, sql, procedure, type, columns, rows }) {
    // A table-valued parameter, @p1 of a text or the only one of a procedure.
    const [schema, own] = type.split('.');
    const value = {
      name: own,
      schema,
      columns: columns.map(([column, kind]) => {
        const [of, , options] = typed(kind, null);
        return { name: column, type: of, ...options };
      }),
      rows: rows.map((row) => row.map((text, i) => typed(columns[i][1], text)[1])),
    };
    return run(name, procedure ? 'callProcedure' : 'execSql', sql, (request) => request.addParameter('p1', TYPES.TVP, value));
  },
  async cancel({ name, sql, after_ms }) {
    const connection = connections.get(name);
    let started;
    const cancel = () => {
      started ??= performance.now();
      connection.cancel();
    };
    const reply = await run(name, 'execSqlBatch', sql, (request) => {
      if (after_ms === null) {
        request.once('row', cancel);
      } else {
        setTimeout(cancel, after_ms);
      }
    });
    reply.cancelled_ms = performance.now() - started;
    // Of the rows that came before, none are asked for.
    reply.sets = [];
    return reply;
  },
  begin: ({ name }) => step((done) => connections.get(name).beginTransaction(done)),
  commit: ({ name }) => step((done) => connections.get(name).commitTransaction(done)),
  rollback: ({ name }) => step((done) => connections.get(name).rollbackTransaction(done)),
  save: ({ name, savepoint }) => step((done) => connections.get(name).saveTransaction(done, savepoint)),
  undo: ({ name, savepoint }) => step((done) => connections.get(name).rollbackTransaction(done, savepoint)),
  close({ name }) {
    const connection = connections.get(name);
    connections.delete(name);
    return new Promise((resolve) => {
      connection.once('end', () => resolve(null));
      connection.close();
    });
  },
};

class Refused extends Error {
  constructor(error) {
    super(error.message);
    const all = error.errors ?? [error];
    this.notices = all.map(notice);
  }
}

function empty() {
  return { sets: [], counts: [], messages: [], errors: [], status: null, outputs: [], cancelled_ms: null };
}

function notice(told) {
  return {
    text: told.message,
    number: typeof told.number === 'number' ? told.number : null,
    state: told.state ?? null,
    severity: told.class ?? null,
    line: told.lineNumber ?? null,
    procedure: told.procName || null,
  };
}

function step(start) {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(new Refused(error)) : resolve(null)));
  });
}

// A request whose rows, counts and outputs are kept.
function listen(connection, reply, sql, done = () => {}) {
  const request = new Request(sql, done);
  request.on('columnMetadata', (columns) => reply.sets.push({ columns: columns.map((one) => one.colName), rows: [] }));
  request.on('row', (cells) => reply.sets.at(-1).rows.push(cells.map(text)));
  for (const event of ['done', 'doneInProc']) {
    request.on(event, (count) => { if (count !== undefined) reply.counts.push(count); });
  }
  request.on('doneProc', (count, more, status) => { reply.status = status ?? null; });
  request.on('returnValue', (name, value, metadata) => reply.outputs.push(text({ value, metadata })));
  return request;
}

async function run(name, how, sql, prepare = () => {}) {
  const connection = connections.get(name);
  const reply = empty();
  const message = (told) => reply.messages.push(notice(told));
  const error = (told) => reply.errors.push(notice(told));
  connection.on('infoMessage', message);
  connection.on('errorMessage', error);
  try {
    await new Promise((resolve) => {
      const request = listen(connection, reply, sql, (failed) => {
        // What is the client's own, not the server's.
        if (failed && reply.errors.length === 0) {
          reply.errors.push(...(failed.errors ?? [failed]).map(notice));
        }
        resolve(null);
      });
      prepare(request);
      connection[how](request);
    });
  } finally {
    connection.off('infoMessage', message);
    connection.off('errorMessage', error);
  }
  return reply;
}

function add(request, parameters) {
  parameters.forEach(([kind, text], i) => request.addParameter(`p${i + 1}`, ...typed(kind, text)));
}

// What addParameter takes after the name.
function typed(kind, text) {
  const [, base, sizes] = /^(\w+)(?:\(([^)]*)\))?$/.exec(kind);
  const [first, second] = (sizes ?? '').split(',');
  const type = KINDS[base];
  const options = {};
  if (base === 'decimal' || base === 'numeric') {
    Object.assign(options, { precision: Number(first), scale: Number(second) });
  } else if (base.startsWith('datetime') || base === 'time') {
    options.scale = first ? Number(first) : 7;
  } else if (sizes) {
    options.length = first === 'max' ? Infinity : Number(first);
  }
  return [type, value(base, text), options];
}

function value(base, text) {
  if (text === null) {
    return null;
  }
  switch (base) {
    case 'bit': return text === '1';
    case 'tinyint': case 'smallint': case 'int': case 'float': case 'real': return Number(text);
    case 'decimal': case 'numeric': case 'money': case 'smallmoney': return Number(text);
    case 'binary': case 'varbinary': return Buffer.from(text.slice(2), 'hex');
    case 'time': return moment(`1970-01-01T${text}Z`);
    case 'date': return moment(`${text}T00:00:00Z`);
    case 'datetime': case 'smalldatetime': case 'datetime2': return moment(`${text.replace(' ', 'T')}Z`);
    case 'datetimeoffset': return moment(text.replace(' ', 'T'));
    default: return text;
  }
}

// A Date with what is finer than a millisecond beside it, as tedious takes it.
function moment(text) {
  const finer = /\.\d{3}(\d{1,4})/.exec(text);
  const date = new Date(text.replace(/(\.\d{3})\d+/, '$1'));
  if (finer) {
    date.nanosecondDelta = Number(finer[1].padEnd(4, '0')) / 1e7;
  }
  return date;
}

function text({ value, metadata }) {
  if (value === null) {
    return null;
  }
  if (value instanceof Date) {
    const finer = String(Math.round((value.nanosecondsDelta ?? 0) * 1e7)).padStart(4, '0');
    const iso = value.toISOString().replace('T', ' ').replace('Z', finer);
    switch (metadata.type.name) {
      case 'Date': return iso.slice(0, 10);
      case 'Time': return iso.slice(11);
      case 'DateTimeOffset': return `${iso}+00:00`;
      default: return iso;
    }
  }
  if (Buffer.isBuffer(value)) {
    return `0x${value.toString('hex').toUpperCase()}`;
  }
  if (typeof value === 'boolean') {
    return value ? '1' : '0';
  }
  return String(value);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { action, ...request } = JSON.parse(line);
  let answer;
  try {
    answer = { answer: await actions[action](request) };
  } catch (error) {
    answer = error instanceof Refused ? { refused: error.notices } : { failed: String(error), trace: error.stack };
  }
  let bytes = Buffer.from(`${JSON.stringify(answer)}\n`);
  while (bytes.length) {
    try {
      bytes = bytes.subarray(writeSync(STDOUT, bytes));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}
process.exit(0);
