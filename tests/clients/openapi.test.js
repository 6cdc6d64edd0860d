// SPDX-License-Identifier: MIT
'use strict'

// The description of the admin API is valid OpenAPI 3.1.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')

const DOCUMENT = path.join(__dirname, '../../admin/openapi.json')

function read () {
  return JSON.parse(fs.readFileSync(DOCUMENT, 'utf8'))
}

async function validate (document) {
  const { Validator } = await import('@seriousme/openapi-schema-validator')
  const validator = new Validator()
  const { valid, errors } = await validator.validate(document)
  return { valid, errors, version: validator.version }
}

test('the description of the API is valid', async () => {
  const { valid, errors, version } = await validate(read())
  assert.ok(valid, JSON.stringify(errors))
  assert.equal(version, '3.1')
})

test('a description with a mistake is none', async () => {
  const document = read()
  delete document.paths['/api/v1/queues/{name}'].get.parameters[0].in
  assert.equal((await validate(document)).valid, false)
})

test('every name in braces of a path is a parameter of each of its methods', () => {
  for (const [name, methods] of Object.entries(read().paths)) {
    const names = [...name.matchAll(/\{(\w+)\}/g)].map(found => found[1])
    for (const [method, { parameters = [] }] of Object.entries(methods)) {
      const told = parameters.filter(each => each.in === 'path').map(each => each.name)
      assert.deepEqual(told, names, `${method} ${name}`)
    }
  }
})
