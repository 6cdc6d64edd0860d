// SPDX-License-Identifier: MIT
'use strict'

// Accessibility and robustness of the page: light and dark, on a phone, by keyboard, with hostile
// names, with a token, and without a broker.

const assert = require('node:assert/strict')
const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, afterEach, before, test } = require('node:test')
const bed = require('./bed.js')

const { skip } = bed
let folder

before(() => {
  if (skip) return undefined
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tandem-page-'))
  return bed.start()
})
after(() => {
  if (skip) return undefined
  fs.rmSync(folder, { recursive: true })
  return bed.stop()
})
afterEach(() => skip || bed.leave())

// A broker with data for each view, and the views: [address, heading].
async function everything(settings = []) {
  await bed.serve(settings)
  const client = await bed.beans('mail')
  await client.put('{"a": [1, 2]}')
  const held = await client.put('held', { priority: 0 })
  await client.reserve()
  await client.put('later', { delay: 100 })
  await bed.post('exports', 'x')
  const { connections } = await bed.api('GET', 'connections?protocol=beanstalk')
  return [
    ['#/', 'Overview'],
    ['#/queues', 'Queues'],
    ['#/queues/mail', 'mail'],
    [`#/jobs/${held}`, `Job ${held}`],
    ['#/connections', 'Connections'],
    [`#/connections/${connections[0].id}`, `Connection ${connections[0].id}`],
    ['#/operations', 'Operations'],
    ['#/journal', 'Journal'],
    ['#/configuration', 'Configuration'],
    ['#/nowhere', 'No such page']
  ]
}

const settled = page => page.waitForFunction(() => !document.querySelector('tr.waiting'))

for (const scheme of ['light', 'dark']) {
  for (const [name, size] of [
    ['desk', bed.DESK],
    ['phone', bed.PHONE]
  ]) {
    test(`axe finds nothing in any view: ${scheme}, ${name}`, { skip }, async () => {
      const views = await everything([`journal.dir=${folder}/${scheme}-${name}`])
      const page = await bed.open('#/', { scheme, size })
      for (const [hash, heading] of views) {
        await bed.go(page, hash, heading)
        await settled(page)
        assert.deepEqual(await bed.findings(page), [], `${hash} in ${scheme}`)
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        assert.ok(wider <= 0, `${hash} is ${wider} pixels too wide`)
      }
    })
  }
}

test('axe finds nothing in dialogs', { skip }, async () => {
  await everything()
  const page = await bed.open('#/queues/mail', { size: bed.PHONE })
  for (const name of ['Add a job …', 'Move …', 'Clear …', 'Pause …']) {
    await page.getByRole('button', { name, exact: true }).click()
    assert.deepEqual(await bed.findings(page), [], name)
    await page.keyboard.press('Escape')
  }
  await page.keyboard.press('?')
  assert.deepEqual(await bed.findings(page), [])
})

test('no view shifts its layout', { skip }, async () => {
  const views = await everything()
  const page = await bed.open()
  for (const [hash, heading] of views) {
    await bed.go(page, hash, heading)
    await settled(page)
    // Layout shifts are reported after the frame.
    await page.evaluate(
      () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
    )
  }
  const shifted = await page.evaluate(() => window.shifted)
  assert.ok(shifted < 0.1, `shifted by ${shifted}`)
})

test('markup in names and bodies is shown as text', { skip }, async () => {
  await bed.serve()
  const hostile = [
    '<img src=x onerror=alert(1)>',
    '"><script>alert(2)</script>',
    'javascript:alert(3)',
    'a/b?c#d%41',
    '\u202eright to left'
  ]
  const ids = []
  for (const queue of hostile) {
    ids.push(
      (
        await bed.api('POST', 'jobs', {
          queue,
          body: `<script>alert('${queue}')</script>`,
          key: '<b>key</b>'
        })
      ).id
    )
  }
  const page = await bed.open('#/queues')
  for (const queue of hostile) {
    await page.getByRole('link', { name: queue, exact: true }).click()
    await page.getByRole('heading', { level: 1, name: queue, exact: true }).waitFor()
    await page.locator('tbody a').first().click()
    await page.getByRole('heading', { level: 1, name: /^Job/ }).waitFor()
    assert.match(await page.locator('pre').textContent(), /^<script>alert/)
    await bed.go(page, '#/queues', 'Queues')
  }
  await bed.go(page, '#/', 'Overview')
  await page.getByText(`${hostile[0]} has no workers`).waitFor()
  assert.equal(await page.locator('main img, main script, main b').count(), 0)
  assert.equal(ids.length, hostile.length)
})

test('the page can be used by keyboard alone', { skip }, async () => {
  await everything()
  const page = await bed.open()
  const { keyboard } = page
  const focus = () => page.evaluate(() => document.activeElement.textContent.trim())
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await keyboard.press('Tab')
  assert.equal(await focus(), 'Skip to the content')
  await keyboard.press('Enter')
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main')
  await keyboard.type('gq')
  await page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor()
  await settled(page)
  await keyboard.press('/')
  await keyboard.type('mail')
  await page.getByText('1–1 of 1').waitFor()
  await keyboard.press('Escape')
  // From the search to the table, and down its rows.
  for (
    let i = 0;
    i < 40 && (await page.evaluate(() => !document.activeElement.closest('.table-box')));
    i++
  ) {
    await keyboard.press('Tab')
  }
  await keyboard.press('ArrowDown')
  assert.equal(await focus(), 'mail')
  await keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'mail' }).waitFor()
  await page.getByRole('tab', { name: 'ready' }).focus()
  await keyboard.press('ArrowRight')
  assert.match(await focus(), /^delayed/)
  await page.getByRole('button', { name: 'Clear …' }).focus()
  await keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  assert.equal(await page.evaluate(() => Boolean(document.activeElement.closest('dialog'))), true)
  await keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(await focus(), 'Clear …')
})

test('the theme is that of the system until the user chooses another one', { skip }, async () => {
  await bed.serve()
  const page = await bed.open('#/', { scheme: 'dark' })
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme)
  assert.equal(await theme(), 'dark')
  await page.getByRole('button', { name: 'Light or dark' }).click()
  assert.equal(await theme(), 'light')
  await page.reload()
  assert.equal(await theme(), 'light')
})

// A broker with two tokens: one may observe and operate mail, the other may do everything.
function rules() {
  const tokens = { mail: 'mail-0123456789abcdef', all: 'all-0123456789abcdef' }
  const hash = token =>
    spawnSync(process.env.TANDEMD, ['hash-token'], { input: `${token}\n` })
      .stdout.toString()
      .trim()
  const file = path.join(folder, 'rules')
  fs.writeFileSync(
    file,
    [
      `token:mail:${hash(tokens.mail)} observe mail*`,
      `token:all:${hash(tokens.all)} admin *`,
      'net:127.0.0.0/8 submit,work *'
    ].join('\n') + '\n'
  )
  return { tokens, settings: [`server.access_file=${file}`] }
}

async function show(page, token) {
  await page.getByRole('dialog', { name: 'Token' }).getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Use', exact: true }).click()
}

test('a token is requested, kept for the tab, and can be changed', { skip }, async () => {
  const { tokens, settings } = rules()
  await bed.serve(settings)
  const client = await bed.beans('mail')
  await client.put()
  const page = await bed.open('#/queues')
  page.noted.mayFail = true
  await show(page, 'wrong-0123456789abcdef')
  await page.getByRole('dialog', { name: 'Token' }).getByRole('alert').getByText(/token/).waitFor()
  await show(page, tokens.all)
  await page.getByRole('link', { name: 'mail', exact: true }).waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'mail', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Token' }).click()
  await page.getByRole('button', { name: 'Forget', exact: true }).click()
  await page.getByRole('dialog', { name: 'Token' }).waitFor()
})

test(
  'what a caller may not do is not offered, nor what it may not see shown',
  { skip },
  async () => {
    const { tokens, settings } = rules()
    await bed.serve(settings)
    const client = await bed.beans('mail')
    await client.put()
    const secret = await bed.beans('secret')
    await secret.put()
    const page = await bed.open('#/queues')
    page.noted.mayFail = true
    await show(page, tokens.mail)
    await page.getByRole('link', { name: 'mail', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'mail' }).waitFor()
    for (const name of ['Add a job …', 'Kick …', 'Clear …', 'Pause …']) {
      assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
    }
    await bed.go(page, '#/queues', 'Queues')
    await page.getByText('1–1 of 1').waitFor()
    assert.equal(await page.getByText('secret').count(), 0)
  }
)

test('the page says that the broker does not answer, and continues when it does', { skip }, async () => {
  // No other process may use the port while the broker is down.
  const holder = spawn('python3', ['-B', path.join(__dirname, '../../support/ports.py')], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  const [port] = await once(holder.stdout.setEncoding('utf8'), 'data')
  const listen = `admin.listen=127.0.0.1:${port.trim()}`
  const server = await bed.serve([listen])
  const page = await bed.open()
  page.noted.mayFail = true
  await page.getByRole('status').getByText('Live').waitFor()
  await server.stop()
  await page.getByRole('status').getByText('Away').waitFor()
  await page
    .getByText(/does not answer|has ended/)
    .first()
    .waitFor()
  await bed.serve([listen])
  await page.getByRole('status').getByText('Live').waitFor()
  holder.stdin.end()
  // The browser has logged that the connection was refused.
  page.noted.said = page.noted.said.filter(
    text =>
      !/ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|CONNECTION_RESET|EMPTY_RESPONSE)/.test(
        text
      )
  )
})
