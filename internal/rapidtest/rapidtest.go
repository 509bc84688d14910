// Package rapidtest decides whether chance chooses the cases of property tests. Only tests import it.
package rapidtest
