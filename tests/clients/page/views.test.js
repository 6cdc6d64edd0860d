// SPDX-License-Identifier: MIT
'use strict'

// Every view of the page, with jobs of real clients of all protocols.

const assert = require('node:assert/strict')
const { after, afterEach, before, test } = require('node:test')
const bed = require('./bed.js')

const { skip } = bed

before(() => skip || bed.start())
after(() => skip || bed.stop())
afterEach(() => skip || bed.leave())

const tile = (page, name) => page.locator('.tile').filter({ hasText: name }).locator('.tile-number')
const row = (page, name) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })

// A broker with a queue for each protocol: beanstalk's has jobs in all states, Gearman's a waiting
// worker, and HTTP's jobs without a worker.
async function busy(settings) {
  const server = await bed.serve(settings)
  const mail = await bed.beans('mail')
  for (let i = 0; i < 4; i++) await mail.put(JSON.stringify({ to: 'someone', number: i }))
  await mail.put('later', { delay: 600 })
  await mail.put('urgent', { priority: 1 })
  const buried = await mail.reserve()
  await mail.bury(buried)
  const held = await mail.reserve()
  bed.workers.gearmanWorker(server, 'resize', job => job.workComplete('done'))
  await bed.post('resize', 'a picture')
  for (const body of ['one', 'two', 'three']) await bed.post('exports', body)
  return { server, mail, buried, held }
}

test('the overview sums up all jobs and shows what needs attention', { skip }, async () => {
  await busy()
  const page = await bed.open()
  await tile(page, 'Ready').getByText('6', { exact: true }).waitFor()
  await tile(page, 'Buried').getByText('1', { exact: true }).waitFor()
  await tile(page, 'Delayed').getByText('1', { exact: true }).waitFor()
  await tile(page, 'Reserved').getByText('1', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'exports has no workers' }).waitFor()
  for (const protocol of ['beanstalk', 'gearman', 'http', 'admin']) {
    await page
      .getByRole('region', { name: 'Protocols' })
      .getByText(protocol, { exact: true })
      .waitFor()
  }
})

test('changes appear on the overview without a reload, and in its charts', { skip }, async () => {
  const { mail } = await busy()
  const page = await bed.open()
  await tile(page, 'Ready').getByText('6', { exact: true }).waitFor()
  await mail.put()
  await tile(page, 'Ready').getByText('7', { exact: true }).waitFor()
  await bed.go(page, '#/journal', 'Journal')
  await bed.go(page, '#/', 'Overview')
  const drawn = page.getByRole('img', { name: /^Jobs a second/ }).locator('path.line-1')
  await assert.doesNotReject(
    page.waitForFunction(path => /L/.test(path.getAttribute('d')), await drawn.elementHandle())
  )
})

test('the overview shows the owner and the standbys of a shared journal', { skip }, async () => {
  await bed.serve()
  const cluster = await bed.api('GET', 'cluster')
  assert.equal(cluster.role, 'alone')
  const member = {
    address: 'beanstalk=h:1',
    owner: false,
    takes_over: true,
    self: false,
    epoch: 7,
    behind: 0
  }
  Object.assign(cluster, {
    role: 'owner',
    shard: 'main',
    node: 'one',
    owner: 'one',
    epoch: 7,
    since: 1700000000,
    members: [
      { ...member, node: 'one', owner: true, self: true, seen_seconds: 0 },
      { ...member, node: 'two', behind: 12, seen_seconds: 0.5 },
      { ...member, node: 'three', takes_over: false, seen_seconds: 1 }
    ]
  })
  Object.assign(cluster.database, { connected: true, durable: true, settings: 'alone in the dark' })
  const page = await bed.open('#/nowhere')
  await page.route('**/api/v1/cluster', route => route.fulfill({ json: cluster }))
  await bed.go(page, '#/', 'Overview')
  const shared = page.locator('.card', { hasText: 'Shared journal' })
  await shared.getByRole('row', { name: /^two standby 7 12 500 ms ago/ }).waitFor()
  await shared.getByRole('row', { name: /^three standby, never takes over 7 0/ }).waitFor()
  await shared.getByRole('row', { name: /^one \(this process\) owner 7 0/ }).waitFor()
  await page.locator('.attention', { hasText: 'Commits wait for one server only' }).waitFor()
  assert.deepEqual(await bed.findings(page), [])
})

test('queues show their numbers and link to their views', { skip }, async () => {
  await busy()
  const page = await bed.open('#/queues')
  const cells = row(page, 'mail').getByRole('cell')
  await row(page, 'mail').waitFor()
  assert.deepEqual((await cells.allTextContents()).slice(1, 8), ['3', '3', '1', '1', '1', '1', '0'])
  await row(page, 'resize').waitFor()
  await row(page, 'exports').getByRole('link').click()
  await page.getByRole('heading', { level: 1, name: 'exports' }).waitFor()
  await page.getByText('no workers').waitFor()
})

test('queues are searched, filtered and sorted by the broker', { skip }, async () => {
  await busy()
  const page = await bed.open('#/queues')
  const names = () =>
    page.getByRole('region', { name: 'Queues' }).locator('tbody a').allTextContents()
  await row(page, 'mail').waitFor()
  await bed.post('exports', 'four')
  const first = page.locator('tbody tr').first()
  await page.getByRole('button', { name: 'Ready', exact: true }).last().click()
  await first.getByRole('link', { name: 'exports' }).waitFor()
  await page.getByRole('button', { name: 'Ready', exact: true }).last().click()
  await first.getByRole('cell', { name: '0', exact: true }).first().waitFor()
  await page
    .getByRole('group', { name: 'Only queues with' })
    .getByRole('button', { name: 'Buried' })
    .click()
  await page.getByText('1–1 of 1').waitFor()
  assert.deepEqual(await names(), ['mail'])
  await page
    .getByRole('group', { name: 'Only queues with' })
    .getByRole('button', { name: 'Buried' })
    .click()
  await row(page, 'resize').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('res')
  await row(page, 'mail').waitFor({ state: 'detached' })
  await page.getByText('1–1 of 1').waitFor()
  assert.deepEqual(await names(), ['resize'])
  await page.getByRole('searchbox').fill('nothing of that name')
  await page.getByText('No queue matches.').waitFor()
  // The address restores the list.
  await page.reload()
  await page.getByText('No queue matches.').waitFor()
})

test('a thousand queues are shown in pages', { skip }, async () => {
  await bed.serve()
  for (let i = 0; i < 1000; i++) await bed.post(`queue-${String(i).padStart(4, '0')}`, 'x')
  const { total, matched } = await bed.api('GET', 'queues?search=queue-&limit=1')
  assert.equal(matched, 1000)
  const page = await bed.open('#/queues?search=queue-')
  const all = ` of 1,000${total > matched ? ` (${total.toLocaleString('en')} in all)` : ''}`
  await page.getByText(`1–50${all}`).waitFor()
  assert.equal(await page.locator('tbody tr').count(), 50)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText(`51–100${all}`).waitFor()
  await row(page, 'queue-0050').waitFor()
  await page.getByRole('button', { name: 'Previous' }).click()
  await row(page, 'queue-0000').waitFor()
})

test(
  'a queue shows its jobs by state, its workers, and how long jobs wait and run',
  { skip },
  async () => {
    const { held, buried, mail } = await busy()
    await mail.destroy(held)
    const again = await mail.reserve()
    const page = await bed.open('#/queues/mail')
    await tile(page, 'Ready').getByText('2', { exact: true }).waitFor()
    for (const [state, id] of [
      ['reserved', again],
      ['buried', buried]
    ]) {
      await page.getByRole('tab', { name: state }).click()
      await row(page, String(id)).waitFor()
    }
    await page.getByRole('tab', { name: 'workers' }).click()
    await page.getByRole('cell', { name: 'beanstalk' }).waitFor()
    await page.getByRole('img', { name: /^From reserved to done: half within/ }).waitFor()
    await page.getByRole('img', { name: /^From ready to reserved: half within/ }).waitFor()
  }
)

test('jobs of a state are shown in pages', { skip }, async () => {
  await bed.serve()
  await bed.putMany('many', 60)
  const page = await bed.open('#/queues/many')
  await page.getByText('1–25', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('26–50', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('51–60', { exact: true }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Next' }).isDisabled(), true)
})

test('a job shows its contract, place and body', { skip }, async () => {
  const { held } = await busy()
  const page = await bed.open(`#/jobs/${held}`)
  await page.getByRole('heading', { level: 1, name: `Job ${held}` }).waitFor()
  await page.getByText('1,000 (high)').waitFor()
  await page.getByRole('tab', { name: 'JSON' }).waitFor()
  assert.equal(await page.locator('pre').textContent(), '{\n  "to": "someone",\n  "number": 0\n}')
  await page.getByRole('tab', { name: 'Text' }).click()
  assert.equal(await page.locator('pre').textContent(), '{"to":"someone","number":0}')
  await page.getByRole('tab', { name: 'Hex' }).click()
  assert.match(await page.locator('pre').textContent(), /^00000000 {2}7b 22 74 6f 22/)
  await page.getByRole('link', { name: /^connection \d+$/ }).click()
  await page.getByRole('heading', { level: 1, name: /^Connection/ }).waitFor()
  await row(page, String(held)).waitFor()
})

test('JSON is shown with unchanged digits and members', { skip }, async () => {
  await bed.serve()
  const client = await bed.beans('mail')
  const body =
    '{"id":12345678901234567890,"price":1.10,"most":1e400,"a":1,"a":2,' +
    '"s":"a\\u00e4 , [ \\" {","none":{},"no":[ ],"list":[true,null,{"x":-0.0}]}'
  const id = await client.put(body)
  const page = await bed.open(`#/jobs/${id}`)
  await page.getByRole('tab', { name: 'JSON' }).waitFor()
  assert.equal(
    await page.locator('pre').textContent(),
    [
      '{',
      '  "id": 12345678901234567890,',
      '  "price": 1.10,',
      '  "most": 1e400,',
      '  "a": 1,',
      '  "a": 2,',
      '  "s": "a\\u00e4 , [ \\" {",',
      '  "none": {},',
      '  "no": [],',
      '  "list": [',
      '    true,',
      '    null,',
      '    {',
      '      "x": -0.0',
      '    }',
      '  ]',
      '}'
    ].join('\n')
  )
  // Full indentation would fill the page with blanks.
  const deep = await client.put('['.repeat(20000) + ']'.repeat(20000))
  await bed.go(page, `#/jobs/${deep}`, `Job ${deep}`)
  await page.getByRole('tab', { name: 'JSON' }).waitFor()
})

test('queues are opened whatever their names are', { skip }, async () => {
  await bed.serve()
  const queues = [
    ['%00.', '.'],
    ['%00..', '..'],
    ['%FF%2F%FE', '\ufffd/\ufffd'],
    ['%EF%BF%BD', '\ufffd']
  ]
  const added = []
  for (const [path, name] of queues) {
    const { id } = await bed.api('POST', 'jobs', { queue_path: path })
    added.push([name, id])
  }
  const page = await bed.open('#/queues')
  for (const [name, id] of added) {
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    await page.getByRole('link', { name: String(id), exact: true }).waitFor()
    await bed.go(page, '#/queues', 'Queues')
  }
})

test('a large binary body is loaded completely on request', { skip }, async () => {
  await bed.serve()
  const client = await bed.beans('large')
  const body = Buffer.alloc(60000, 0).fill(255, 30000)
  const small = await client.put(body)
  await bed.post('larger', Buffer.alloc(200000, 'abc'))
  const page = await bed.open(`#/jobs/${small}`)
  await page.getByText('58.6 KiB, not text').waitFor()
  await page.getByRole('button', { name: 'Show more' }).click()
  const { jobs } = await bed.api('GET', 'queues/larger/jobs')
  await bed.go(page, `#/jobs/${jobs[0].id}`, `Job ${jobs[0].id}`)
  await page.getByText('the first 64.0 KiB of 195 KiB').waitFor()
  await page.getByRole('button', { name: 'Load all' }).click()
  await page.getByRole('button', { name: 'Save' }).waitFor()
})

test('a deleted job does not exist', { skip }, async () => {
  const { mail, held } = await busy()
  const page = await bed.open(`#/jobs/${held}`)
  page.noted.mayFail = true
  await page.getByRole('heading', { level: 1, name: `Job ${held}` }).waitFor()
  await mail.destroy(held)
  await page.getByRole('heading', { level: 1, name: `Job ${held} does not exist` }).waitFor()
})

test('an ended job shows its kept result', { skip }, async () => {
  const server = await bed.serve()
  await bed.api('PUT', 'policies/later', { keep_result: '1h' })
  await bed.post('later', 'a picture')
  const { jobs } = await bed.api('GET', 'queues/later/jobs')
  const page = await bed.open(`#/jobs/${jobs[0].id}`)
  await page.getByRole('heading', { level: 1, name: `Job ${jobs[0].id}` }).waitFor()
  bed.workers.gearmanWorker(server, 'later', job => job.workComplete('a small one'))
  await page.getByRole('heading', { level: 1, name: `Job ${jobs[0].id} has ended` }).waitFor()
  await page.getByText('complete', { exact: true }).waitFor()
  await page.getByText('a small one').waitFor()
})

test('connections show workers, waiting workers and producers', { skip }, async () => {
  await busy()
  const page = await bed.open('#/connections')
  await page.getByRole('row', { name: /beanstalk .*works/ }).waitFor()
  await page.getByRole('row', { name: /gearman .*waits/ }).waitFor()
  await page.getByRole('button', { name: 'gearman', exact: true }).click()
  await page.getByText('1–1 of 1').waitFor()
  await page.getByRole('button', { name: 'Workers' }).click()
  await page.getByText('1–2 of 2').waitFor()
})

test('a queue shows its policy and the origin of the policy', { skip }, async () => {
  await bed.serve(['queue mail*.max_jobs=77'])
  const mail = await bed.beans('mail')
  await mail.put('a job')
  const page = await bed.open('#/queues/mail')
  const policy = page.locator('.card').filter({ hasText: 'Policy' })
  await policy.getByText('[queue mail*] of --set').waitFor()
  await policy.getByText('max_jobs = 77').waitFor()
  await bed.go(page, '#/configuration', 'Configuration')
  const section = page.locator('.card').filter({ hasText: '[queue mail*]' })
  await section.getByText('77', { exact: true }).waitFor()
})

test('the configuration in effect can be searched', { skip }, async () => {
  await busy(['server.max_memory=1G'])
  const page = await bed.open('#/configuration')
  await page.getByRole('heading', { name: '[server]' }).waitFor()
  await page.getByRole('button', { name: 'Changed only' }).click()
  assert.equal(await page.locator('.setting:visible').filter({ hasText: 'max_memory' }).count(), 1)
  await page.keyboard.press('/')
  await page.keyboard.type('max_memory')
  await page.getByRole('button', { name: 'Changed only' }).click()
  await page.getByText('max_memory').first().waitFor()
  await page.locator('.setting', { hasText: 'log_level' }).first().waitFor({ state: 'hidden' })
})
