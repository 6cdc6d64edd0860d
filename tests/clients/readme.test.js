// SPDX-License-Identifier: MIT
'use strict'

// What README.md shows is what happens.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { test } = require('node:test')
const { promisify } = require('node:util')
const broker = require('./broker.js')

const run = promisify(execFile)
const readme = fs.readFileSync(path.join(__dirname, '../../README.md'), 'utf8')

// The text of the first block that is fenced as `language`, in that section or in all.
function block(language, section = '') {
  const from = section ? readme.indexOf(`\n## ${section}\n`) : 0
  assert.notEqual(from, -1, section)
  const found = new RegExp('^```' + language + '\\n([^]*?)^```$', 'm').exec(readme.slice(from))
  assert.ok(found, `README.md has a block of ${language}`)
  return found[1]
}

// Plays the session: replies begin in upper case, commands in lower case, and a body comes from
// whoever announced it. The server must say what is shown, in that order.
async function play(lines, socket) {
  let received = ''
  socket.setEncoding('utf8').on('data', text => (received += text))
  const closed = new Promise((resolve, reject) => socket.on('close', resolve).on('error', reject))
  let expected = ''
  let fromServer = false
  let isBody = false
  for (const line of lines) {
    fromServer = isBody ? fromServer : /^[A-Z]/.test(line)
    isBody = !isBody && /^(put|RESERVED) /.test(line)
    if (fromServer) expected += `${line}\r\n`
    else socket.write(`${line}\r\n`)
  }
  await closed
  assert.equal(received, expected)
}

test('the session of a first job goes as it is shown', async () => {
  const server = await broker.start()
  const [command, ...lines] = block('console').trimEnd().split('\n')
  assert.equal(command, '$ telnet 127.0.0.1 11300')
  await play(lines, net.connect(server.port, server.host))
  await server.stop()
})

test('the program runs and prints its job', async () => {
  const server = await broker.start()
  const program = block('js').replace('11300', server.port).replace('127.0.0.1', server.host)
  const { stdout } = await run(process.execPath, ['-e', program], { cwd: __dirname })
  assert.match(stdout, /^job \d+: hello\n$/)
  await server.stop()
})

test('the files that it names are there', () => {
  for (const [, target] of readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
    assert.ok(fs.existsSync(path.join(__dirname, '../..', target)), target)
  }
})

// What `--check-config` says of the settings.
async function check(settings, ...options) {
  const file = path.join(fs.mkdtempSync('/tmp/tandem-readme-'), 'tandemd.conf')
  try {
    fs.writeFileSync(file, settings)
    const command = ['--config', file, '--check-config', ...options]
    return (await run(process.env.TANDEMD, command)).stdout
  } finally {
    fs.rmSync(path.dirname(file), { recursive: true })
  }
}

test('the configuration is accepted', { skip: !process.env.TANDEMD }, async () => {
  assert.match(await check(block('ini')), /max_job_size\s*=\s*65535/)
})

test('the policy is accepted, and fits a queue', { skip: !process.env.TANDEMD }, async () => {
  const policy = block('ini', 'Policies of a queue')
  assert.match(await check(policy, '--queue', 'mail.news'), /\[queue mail\.\*\]/)
})
