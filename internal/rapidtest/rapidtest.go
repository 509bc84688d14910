// Package rapidtest decides whether property tests try fixed or random cases. Only tests import it.
package rapidtest
