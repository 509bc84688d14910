// Package transfer reads results from files that people bring, such as spreadsheets.
//
// [Read] tells the form of a file by its content. It reads a whole file before it interprets a
// date, because one row can settle how the others are meant. It guesses nothing: what has two
// readings, and is not settled by another row, leads to a [Question] or a [Fault]. Each row of a
// file becomes a match or a start rating, or has a fault that says why it was left out or refused.
//
// The package accesses neither the database nor Telegram. Names stay as they are in the file.
package transfer
